// Budgets as they are written: sizes, shares, memories by name.
#include "optimize/memory/budget.h"
#include "optimize/memory_case.h"
#include "support/expect_error.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace monet {
namespace {

// A home memory, one of a core, and storage.
Hardware three_memories() {
  auto hardware = read_hardware_text(
      "monet: 1\nname: three\nclock: 1 GHz\ntechnology: 22 nm\nmemories:\n"
      "  dram: {kind: dram, type: LPDDR4, size: 1 MiB, ports: {rw: {width: 64 bit/cycle}}}\n"
      "  flash: {kind: storage, size: 1 MiB, ports: {rw: {width: 8 bit/cycle}}, read_energy: 1 pJ, write_energy: 1 "
      "pJ}\n"
      "cores:\n  pe:\n    rate: {operations: {all: 1 GOP/s}, energy: {all: 2 pJ}}\n"
      "    memories:\n      sram: {size: 64 KiB, ports: {rw: {width: 64 bit/cycle}}}\n      dram: {use: dram}\n"
      "      flash: {use: flash}\n"
      "links:\n  - {bus: [pe, dram, flash], width: 64 bit/cycle}\n",
      "three.yaml");
  EXPECT_TRUE(hardware.has_value()) << (hardware ? "" : hardware.error().text());
  return *std::move(hardware);
}

std::string core_memory(const Hardware& hardware) {
  const auto found = std::ranges::find_if(hardware.memories, [](const Memory& m) { return m.name.ends_with("sram"); });
  EXPECT_NE(found, hardware.memories.end());
  return found->name;
}

TEST(MemoryBudget, BytesAreWholeNumbersOrSizes) {
  EXPECT_EQ(*bytes_from("1048576", ""), 1048576);
  EXPECT_EQ(*bytes_from("1MiB", ""), 1048576);
  EXPECT_EQ(*bytes_from("1.5KiB", ""), 1536);
  for (const char* wrong : {"-1", "0.5", "1e30", "3 parrots", "", "5 ms"}) {
    const auto bytes = bytes_from(wrong, "--capacity");
    ASSERT_FALSE(bytes.has_value()) << wrong;
    test::expect_error(bytes.error(), {}, "--capacity");
  }
}

TEST(MemoryBudget, WithoutOneItIsWhatTheHomeMemoryHolds) {
  const auto budgets = budgets_from({}, three_memories());
  ASSERT_TRUE(budgets.has_value()) << budgets.error().text();
  EXPECT_EQ(budgets->hardware[budgets->memory].name, "dram");
  EXPECT_EQ(budgets->bytes(5), 1 << 20);
}

TEST(MemoryBudget, AShareIsOfWhatIsNeededWithout) {
  const auto budgets = budgets_from({"dram=80%"}, three_memories());
  ASSERT_TRUE(budgets.has_value()) << budgets.error().text();
  EXPECT_EQ(budgets->bytes(1001), 800);  // rounded down
}

TEST(MemoryBudget, MoreThanThereIsGivesAWarning) {
  const auto budgets = budgets_from({"2MiB"}, three_memories());
  ASSERT_TRUE(budgets.has_value());
  EXPECT_EQ(budgets->warnings(budgets->bytes(0)).size(), 1U);
  EXPECT_TRUE(budgets->warnings(1 << 20).empty());
}

TEST(MemoryBudget, OfACoresMemoryIsASmallerMemory) {
  const Hardware hardware = three_memories();
  const std::string name = core_memory(hardware);
  const auto smaller = budgets_from({name + "=4KiB", "512KiB"}, hardware);
  ASSERT_TRUE(smaller.has_value()) << smaller.error().text();
  const auto found = std::ranges::find(smaller->hardware.memories, name, &Memory::name);
  EXPECT_EQ(found->size_bits, 8 * 4096);
  EXPECT_EQ(smaller->notes.size(), 1U);
  EXPECT_EQ(smaller->bytes(0), 512 << 10);
  const auto larger = budgets_from({name + "=1MiB"}, hardware);
  ASSERT_TRUE(larger.has_value());
  EXPECT_EQ(std::ranges::find(larger->hardware.memories, name, &Memory::name)->size_bits, 8 * (64 << 10));
}

TEST(MemoryBudget, MistakesAreNamed) {
  const Hardware hardware = three_memories();
  const auto fails = [&](const std::vector<std::string>& texts, const std::vector<std::string>& words) {
    const auto budgets = budgets_from(texts, hardware);
    ASSERT_FALSE(budgets.has_value());
    test::expect_error(budgets.error(), words, "--memory-budget");
  };
  fails({"much"}, {"much"});
  fails({"dran=1MiB"}, {"no memory 'dran'"});
  fails({"0%"}, {"no share"});
  fails({"1MiB", "dram=2MiB"}, {"two budgets"});
  fails({"flash=1KiB"}, {"paged to"});
  fails({core_memory(hardware) + "=50%"}, {"a share says nothing"});
}

TEST(MemoryBudget, DeadlinesAreMultiplesTimesOrCycles) {
  EXPECT_DOUBLE_EQ(*deadline_from("1.5x", 200, 1e9), 300);
  EXPECT_DOUBLE_EQ(*deadline_from("2us", 200, 1e9), 2000);
  EXPECT_DOUBLE_EQ(*deadline_from("3e6 cycle", 200, 1e9), 3e6);
  for (const char* wrong : {"0x", "soon", "5", "-1ms", "4KiB"}) {
    const auto cycles = deadline_from(wrong, 200, 1e9);
    ASSERT_FALSE(cycles.has_value()) << wrong;
    test::expect_error(cycles.error(), {}, "--deadline");
  }
}

}  // namespace
}  // namespace monet
