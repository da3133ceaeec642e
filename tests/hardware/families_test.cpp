#include "hardware/derive/costs.h"
#include "hardware/support.h"

namespace monet {
namespace {

using test::memory_named;
using test::message_of;
using test::must_read;
using test::small_machine;
using testing::HasSubstr;

// The small machine as a family.
const std::string small_family =
    "parameters: {memory: 64 KiB, k: 4, twice: =2 * k, n: {value: 2, minimum: 1, maximum: 8}}\n" +
    test::with(test::with(test::with(small_machine, "size: 64 KiB", "size: =memory"), "{K: 4,", "{K: =k,"),
               "    array:\n", "    count: =n\n    array:\n");

HardwareOptions set(const std::string& name, const std::string& value) { return {.parameters = {{name, value}}}; }

TEST(HardwareFamilies, DefaultsAndChosenValues) {
  const Hardware by_default = must_read(small_family);
  EXPECT_EQ(by_default.cores.size(), 2U);
  EXPECT_EQ(by_default.cores[0].units[0].lanes(), 8);
  EXPECT_EQ(by_default.parameters, (std::vector<std::pair<std::string, std::string>>{
                                       {"memory", "64 KiB"}, {"k", "4"}, {"twice", "8"}, {"n", "2"}}));
  const Hardware chosen = must_read(small_family, {.parameters = {{"k", "16"}, {"n", "=k / 4"}}});
  EXPECT_EQ(chosen.cores.size(), 4U);
  EXPECT_EQ(chosen.cores[0].units[0].lanes(), 32);
  EXPECT_EQ(chosen.parameters[2], (std::pair<std::string, std::string>{"twice", "32"}));
  EXPECT_EQ(chosen.parameters[3], (std::pair<std::string, std::string>{"n", "4"}));
}

TEST(HardwareFamilies, WrittenCostsScaleWithTheTable) {
  const double now = sram_costs(4 * 65536, 256, 22).read_pj.value;
  const double then = sram_costs(65536, 256, 22).read_pj.value;
  const Hardware larger = must_read(small_family, set("memory", "256 KiB"));
  EXPECT_DOUBLE_EQ(memory_named(larger, "pe0/sram").read_pj, 20 * now / then);
  const Origin* origin = test::origin_of(larger, "core pe: memory sram", "read_energy");
  ASSERT_NE(origin, nullptr);
  EXPECT_TRUE(origin->derived);
  EXPECT_THAT(origin->source, HasSubstr("stated for the default size"));
  // Registers and DRAM kept their sizes.
  EXPECT_EQ(memory_named(larger, "pe0/registers").read_pj, 0.1);
  EXPECT_EQ(memory_named(larger, "dram").read_pj, 700);
  // Left as it is by default, at the default size, and where the value is an expression of its own.
  EXPECT_EQ(memory_named(must_read(small_family), "pe0/sram").read_pj, 20);
  EXPECT_EQ(memory_named(must_read("energies: fixed\n" + small_family, set("memory", "256 KiB")), "pe0/sram").read_pj,
            20);
  const std::string own_rule = test::with(small_family, "read_energy: 20 pJ", "read_energy: =20 pJ * memory / 64 KiB");
  EXPECT_EQ(memory_named(must_read(own_rule, set("memory", "256 KiB")), "pe0/sram").read_pj, 80);
}

TEST(HardwareFamilies, ScalingNeedsATechnology) {
  const std::string text = test::with(small_family, "technology: 22 nm\n", "");
  EXPECT_EQ(memory_named(must_read(text), "pe0/sram").read_pj, 20);
  EXPECT_THAT(message_of(text, set("memory", "256 KiB")), HasSubstr("there is no technology to scale the energies"));
  EXPECT_EQ(memory_named(must_read("energies: fixed\n" + text, set("memory", "256 KiB")), "pe0/sram").read_pj, 20);
}

TEST(HardwareFamilies, WrongParameters) {
  EXPECT_EQ(message_of(small_family, set("memry", "1 KiB")),
            "m.yaml: there is no parameter 'memry' (did you mean 'memory'?)");
  EXPECT_EQ(message_of(small_machine, set("x", "1")),
            "m.yaml: there is no parameter 'x' (this file has no parameters)");
  EXPECT_EQ(
      message_of(small_family, set("memory", "4")),
      "parameter memory: the parameter 'memory' is 64 KiB by default: another unit than 4 (write the value with such "
      "a unit)");
  EXPECT_EQ(message_of(small_family, set("n", "9")),
            "parameter n: the parameter 'n' is larger than 8 (its maximum stands at m.yaml:1:86)");
  EXPECT_EQ(message_of(small_family, set("n", "0")),
            "parameter n: the parameter 'n' is smaller than 1 (its minimum stands at m.yaml:1:74)");
  EXPECT_EQ(message_of(small_family, set("k", "= memry")),
            "parameter k: 'memry' is no parameter (did you mean 'memory'?)");
  EXPECT_EQ(message_of(small_family, set("k", "=1 / 0")),
            "parameter k: '=1 / 0' is not a finite number (look for a division by 0)");
  EXPECT_EQ(message_of(small_family, set("k", "2.5")),
            "m.yaml:17:23: '=k' of 'size' is not a whole number (write a whole number from 1 to 1073741824)");
  EXPECT_EQ(message_of(small_family, set("k", "-1")),
            "m.yaml:17:23: 'size' cannot be -1 (write a whole number from 1 to 1073741824)");
}

TEST(HardwareFamilies, WrongDefinitions) {
  const auto with_parameters = [](const std::string& text) {
    return message_of("parameters: {" + text + "}\n" + small_machine);
  };
  EXPECT_EQ(with_parameters("a: =b, b: =a"),
            "m.yaml:1:17: the parameters a, b depend on each other (give one of them a number)");
  EXPECT_EQ(with_parameters("a: =a"), "m.yaml:1:17: the parameters a depend on each other (give one of them a number)");
  EXPECT_EQ(with_parameters("'2a': 1"),
            "m.yaml:1:14: '2a' cannot be the name of a parameter (use letters, digits and _)");
  EXPECT_EQ(with_parameters("min: 1"), "m.yaml:1:14: 'min' means something else in expressions (take another name)");
  EXPECT_EQ(with_parameters("a: {minimum: 1}"), "m.yaml:1:14: the parameter 'a' has no default (write value: …)");
  EXPECT_EQ(with_parameters("a: {value: 1, minimum: 1 B}"),
            "m.yaml:1:37: this bound of 'a' has another unit than its value");
  EXPECT_EQ(
      with_parameters("a: words"),
      "m.yaml:1:17: 'words' does not start with a number (write a number, with its unit if it has one: 4 or 2 MiB)");
  EXPECT_EQ(with_parameters("a: =1 +"), "m.yaml:1:17: a value is missing at column 5 of the expression");
  EXPECT_EQ(with_parameters("a: 1 B, b: =a + 1"), "m.yaml:1:25: a sum needs two values with the same unit");
  std::string chain = "p0: 1";
  for (int i = 1; i < 200; ++i) chain += ", p" + std::to_string(i) + ": =p" + std::to_string(i - 1);
  EXPECT_EQ(with_parameters(chain), "no error");
  std::string backwards = "p0: 1";
  for (int i = 1; i < 200; ++i) backwards = "p" + std::to_string(i) + ": =p" + std::to_string(i - 1) + ", " + backwards;
  EXPECT_THAT(with_parameters(backwards), HasSubstr("a chain longer than 64"));
}

TEST(HardwareFamilies, ParametersInCycleRules) {
  const std::string text =
      test::with(small_family, "      operations:", "      cycle_rule: ceil(rows / k) * depth\n      operations:");
  const auto rule = must_read(text, set("k", "8")).cores[0].units[0].cycle_rule;
  ASSERT_TRUE(rule);
  EXPECT_EQ(rule->names(), (std::vector<std::string>{"rows", "depth"}));
  EXPECT_EQ(rule->evaluate(std::vector<double>{17, 10}), 30);
}

}  // namespace
}  // namespace monet
