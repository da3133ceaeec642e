// Do parameters that are words choose parts of a machine, and is a wrong word or choice said where it stands?
#include "config/words.h"

#include "hardware/support.h"

namespace monet::test {
namespace {

using ::testing::HasSubstr;

// The small machine with a word that chooses the size and the energy of its SRAM.
std::string worded(const std::string& size, const std::string& parameter = "{value: small, one_of: [small, large]}") {
  return with(changed("clock: 500 MHz\n", "parameters:\n  kind: " + parameter + "\n  n: 4\nclock: 500 MHz\n"),
              "size: 64 KiB", "size: " + size);
}

HardwareOptions choosing(const std::string& word) { return {.parameters = {{"kind", word}}}; }

std::int64_t sram_bits(const Hardware& hardware) { return memory_named(hardware, "pe/sram").size_bits; }

TEST(Words, ChooseAValue) {
  const std::string text = worded("{choose: kind, small: 16 KiB, large: 128 KiB}");
  EXPECT_EQ(sram_bits(must_read(text)), 16 * 1024 * 8);
  EXPECT_EQ(sram_bits(must_read(text, choosing("large"))), 128 * 1024 * 8);
  const Hardware large = must_read(text, choosing("large"));
  ASSERT_FALSE(large.parameters.empty());
  EXPECT_EQ(large.parameters.front(), (std::pair<std::string, std::string>("kind", "large")));
}

TEST(Words, ChooseBlocksListsAndNothing) {
  const std::string text =
      with(worded("64 KiB"), "operations: {mac: {energy: 0.5 pJ}}",
           "operations: {mac: {energy: {choose: kind, small: 0.5 pJ, large: null}}}\n"
           "      precisions:\n        choose: kind\n        small: null\n        otherwise: {bf16: "
           "{rate: 1, accumulate: fp32}}");
  const Hardware small = must_read(text);
  EXPECT_TRUE(small.cores.front().units.front().precisions.empty());
  EXPECT_EQ(small.cores.front().units.front().energy_pj[static_cast<std::size_t>(Count::mac)], 0.5);
  const Hardware large = must_read(text, choosing("large"));
  ASSERT_EQ(large.cores.front().units.front().precisions.size(), 1U);
  EXPECT_EQ(large.cores.front().units.front().precisions.front().name, "bf16");
  const Origin* energy = origin_of(large, "core pe: array", "mac energy");
  ASSERT_NE(energy, nullptr);
  EXPECT_TRUE(energy->derived);
}

TEST(Words, ParametersFollowFromThem) {
  const std::string text =
      with(worded("=bytes"), "  n: 4\n", "  n: 4\n  bytes: {choose: kind, small: =n * 1 KiB, large: =n * 8 KiB}\n");
  EXPECT_EQ(sram_bits(must_read(text)), 4 * 1024 * 8);
  EXPECT_EQ(sram_bits(must_read(text, choosing("large"))), 32 * 1024 * 8);
  // One that is chosen goes before.
  EXPECT_EQ(sram_bits(must_read(text, {.parameters = {{"kind", "large"}, {"bytes", "2 KiB"}}})), 2 * 1024 * 8);
  // What the file states holds for the defaults: a size four times as large costs more, as the table has it.
  const Hardware large = must_read(text, choosing("large"));
  EXPECT_GT(memory_named(large, "pe/sram").read_pj, 20);
}

TEST(Words, OfAnIncludedFileKeepItsSource) {
  const auto machine = read_hardware_text(
      "monet: 1\nname: variant\ninclude: eyeriss_like\nclock: 1 GHz\nparameters: {arithmetic: {value: fp32}}\n"
      "cores: {core: {array: {precisions: {fp16: 1}}}}\n",
      "variant.yaml");
  ASSERT_TRUE(machine) << machine.error().text();
  EXPECT_EQ(machine->technology_nm, 65);
  // A plain block in place of a choice is that block alone.
  ASSERT_EQ(machine->cores.front().units.front().precisions.size(), 1U);
  EXPECT_EQ(machine->cores.front().units.front().precisions.front().name, "fp16");
}

TEST(WordErrors, OfParameters) {
  const std::string choice = "{choose: kind, small: 16 KiB, large: 128 KiB}";
  EXPECT_THAT(message_of(worded(choice), choosing("huge")), HasSubstr("the parameter 'kind' cannot be 'huge'"));
  EXPECT_THAT(message_of(worded(choice), choosing("huge")), HasSubstr("one of: small, large"));
  EXPECT_THAT(message_of(worded(choice, "{value: tiny, one_of: [small, large]}")), HasSubstr("cannot be 'tiny'"));
  EXPECT_THAT(message_of(worded(choice, "{value: small, one_of: []}")), HasSubstr("'one_of' of the parameter 'kind'"));
  EXPECT_THAT(message_of(worded(choice, "{value: small, one_of: [small, 8x]}")), HasSubstr("'8x' cannot be a word"));
  EXPECT_THAT(message_of(worded(choice, "{value: small, one_of: [small, small]}")), HasSubstr("twice"));
  EXPECT_THAT(message_of(worded(choice, "{one_of: [small, large]}")), HasSubstr("has no default"));
  EXPECT_THAT(message_of(worded(choice, "{value: small, one_of: [small, large], minimum: 1}")),
              HasSubstr("a minimum of the word 'kind'"));
}

TEST(WordErrors, OfChoices) {
  EXPECT_THAT(message_of(worded("{choose: kinds, small: 1 KiB, large: 2 KiB}")),
              HasSubstr("'kinds' is no parameter that is a word"));
  EXPECT_THAT(message_of(worded("{choose: kinds, small: 1 KiB, large: 2 KiB}")), HasSubstr("did you mean 'kind'?"));
  EXPECT_THAT(message_of(worded("{choose: n, small: 1 KiB}")), HasSubstr("'n' is no parameter that is a word"));
  EXPECT_THAT(message_of(worded("{choose: kind, small: 1 KiB}")),
              HasSubstr("nothing is said for 'kind' being 'large'"));
  EXPECT_THAT(message_of(worded("{choose: kind, small: 1 KiB, larger: 2 KiB, otherwise: 3 KiB}")),
              HasSubstr("'kind' is never 'larger'"));
  EXPECT_THAT(message_of(worded("=kind * 1 KiB")), HasSubstr("the parameter 'kind' is a word, not a number"));
  EXPECT_THAT(message_of(worded("=kind * 1 KiB")), HasSubstr("choose: kind"));
  // Nothing where something must be.
  EXPECT_THAT(message_of(worded("{choose: kind, small: null, large: 2 KiB}")), HasSubstr("size"));
  EXPECT_THAT(message_of("choose: kind\nsmall: {}\n"), HasSubstr("choice"));
}

}  // namespace
}  // namespace monet::test
