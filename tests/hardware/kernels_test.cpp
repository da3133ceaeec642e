// Laws of kernels in a machine's file: are they read, written and read again, and are mistakes named?
#include "hardware/kernel_defaults.h"
#include "hardware/opened_preset.h"
#include "hardware/writer.h"
#include "hardware/writer_parts.h"
#include "kernels/laws.h"

#include "hardware/support.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace monet {
namespace {

using testing::HasSubstr;

const std::string kernels_text = R"(    kernels:
      source: made up
      date: "2026-01-02"
      multiprocessors: 4
      ceiling: {fp32: 1 TFLOP/s, tf32: 2 TFLOP/s, bf16: 4 TFLOP/s}
      memory: {cache_rate: 100 GB/s, memory_rate: 50 GB/s, cache_until: 1 MB, memory_from: 2 MB}
      energy: {base: 10 W, byte: 20 pJ, fp32: 5 pJ}
      laws:
        product.forward.fp32:
          rate: 0.9
          start: 3
          reach: 2
          noise: 0.1
          measured: 1 64 64 64 0 9.5, 1 128 128 128 1 12
)";

std::string machine_with_kernels(std::string text = kernels_text) {
  std::string result = test::small_machine;
  const std::string core = "  pe:\n";
  result.insert(result.find(core) + core.size(), text);
  return result;
}

std::string changed_kernels(const std::string& from, const std::string& to) {
  return machine_with_kernels(test::with(kernels_text, from, to));
}

TEST(KernelsOfAMachine, AreReadInTheirUnits) {
  const auto hardware = read_hardware_text(machine_with_kernels(), "machine.yaml");
  ASSERT_TRUE(hardware.has_value()) << hardware.error().text();
  const auto laws = hardware->cores[0].kernels;
  ASSERT_NE(laws, nullptr);
  EXPECT_EQ(laws->source, "made up");
  EXPECT_EQ(laws->date, "2026-01-02");
  EXPECT_EQ(laws->multiprocessors, 4);
  EXPECT_NEAR(laws->ceiling[2], 4e6, 1e-3);
  EXPECT_NEAR(laws->memory.cache_rate, 100e3, 1e-6);
  EXPECT_NEAR(laws->memory.memory_from, 2e6, 1e-6);
  EXPECT_NEAR(laws->memory.cold_after, 1e6, 1e-6);
  EXPECT_EQ(laws->energy.base_w, 10);
  EXPECT_EQ(laws->energy.flop_pj[0], 5);
  ASSERT_EQ(laws->classes.size(), 1U);
  EXPECT_NEAR(laws->classes[0].coefficients[0], 0.9e6, 1e-6);
  ASSERT_EQ(laws->classes[0].measured.size(), 2U);
  EXPECT_TRUE(laws->classes[0].measured[1].kernel.bias);
  EXPECT_EQ(laws->classes[0].measured[1].us, 12);
}

TEST(KernelsOfAMachine, ComeBackAsTheyWereWritten) {
  const Hardware first = test::preset("h200");
  hardware_text::Lines text;
  hardware_text::write_kernels(text, 2, *first.cores[0].kernels);
  const Hardware second = test::must_read(to_yaml(test::must_read(machine_with_kernels(std::move(text).text()))));
  const KernelLaws &a = *first.cores[0].kernels, &b = *second.cores[0].kernels;
  EXPECT_EQ(a.source, b.source);
  EXPECT_NEAR(a.energy.base_w, b.energy.base_w, 1e-9);
  ASSERT_EQ(a.classes.size(), b.classes.size());
  for (std::size_t i = 0; i < a.classes.size(); ++i) {
    EXPECT_EQ(a.classes[i].kernel_class, b.classes[i].kernel_class);
    ASSERT_EQ(a.classes[i].measured.size(), b.classes[i].measured.size());
    for (const MeasuredKernel& point : a.classes[i].measured)
      EXPECT_NEAR(microseconds(a, point.kernel) / microseconds(b, point.kernel), 1, 1e-6);
  }
}

// Beside what was measured, a law with its residual is nearer than the law alone; far from all it is the law.
TEST(KernelsOfAMachine, KernelsOfTheH200AreNearWhatWasMeasured) {
  const Hardware hardware = test::preset("h200");
  const KernelLaws& laws = *hardware.cores[0].kernels;
  double sum = 0, count = 0;
  for (const ClassLaw& law : laws.classes) {
    for (const MeasuredKernel& point : law.measured) {
      sum += std::abs(microseconds(laws, point.kernel) / point.us - 1);
      count += 1;
    }
  }
  EXPECT_GT(count, 0.98 * 12069);  // rows of h200_micro, h200_micro2 and h200_micro3 in data/groundtruth
  EXPECT_LT(sum / count, 0.09);
}

TEST(KernelsOfAMachine, MistakesAreNamed) {
  using test::message_of;
  EXPECT_THAT(message_of(changed_kernels("product.forward.fp32", "product.fp32")),
              HasSubstr("there is no class of kernels 'product.fp32'"));
  EXPECT_THAT(message_of(changed_kernels("rate: 0.9", "taps: 0.9")),
              HasSubstr("the law of product.forward.fp32 has no coefficient 'taps'"));
  EXPECT_THAT(message_of(changed_kernels("rate: 0.9", "rate: 0")), HasSubstr("'rate' is not above 0"));
  EXPECT_THAT(message_of(changed_kernels("rate: 0.9", "rate: fast")), HasSubstr("m.yaml"));
  EXPECT_THAT(message_of(changed_kernels("1 64 64 64 0 9.5", "1 64 64 64 9.5")), HasSubstr("is no measured kernel"));
  EXPECT_THAT(message_of(changed_kernels("9.5", "-9.5")), HasSubstr("write batch m n k bias us"));
  EXPECT_THAT(message_of(changed_kernels("      multiprocessors: 4\n", "")),
              HasSubstr("kernels without 'multiprocessors'"));
  EXPECT_THAT(message_of(changed_kernels("memory_from: 2 MB", "memory_from: 1 MB")),
              HasSubstr("not above cache_until"));
  EXPECT_THAT(message_of(changed_kernels("fp32: 1 TFLOP/s, ", "")), HasSubstr("'fp32' is missing"));
}

// A core is a kernel core by having `kernels`: what they leave out is the data sheet's.
TEST(KernelsOfAMachine, MayLeaveAllToTheDataSheet) {
  const Hardware hardware = test::preset("a100");
  const CoreId core = kernel_core(hardware);
  ASSERT_TRUE(core.valid());
  const KernelLaws& laws = *hardware[core].kernels;
  EXPECT_EQ(laws.multiprocessors, 108);
  EXPECT_NEAR(laws.ceiling[2], 312e6, 0.01 * 312e6);
  EXPECT_TRUE(laws.classes.empty());
  // Nearly all of the board's power goes into products at their peak rate.
  EXPECT_EQ(laws.energy.limit_w, 400);
  EXPECT_NEAR(laws.energy.flop_pj[2] * 312, 400, 0.1 * 400);
  EXPECT_FALSE(kernel_core(test::preset("tpu_v4")).valid());
  // The accelerators beside the graphics processor are none.
  const Hardware orin = test::preset("jetson_agx_orin");
  EXPECT_EQ(orin[kernel_core(orin)].type, "sm");
  EXPECT_EQ(std::ranges::count_if(orin.cores, [](const Core& each) { return each.kernels != nullptr; }), 1);
}

TEST(KernelsOfAMachine, ADataSheetThatSaysTooLittleIsNoted) {
  const std::string machine = machine_with_kernels("    kernels: {source: nothing}\n");
  EXPECT_THAT(test::message_of(test::with(machine, "size: 64 KiB", "kind: registers\n        size: 64 KiB")),
              HasSubstr("core 'pe' of small has no cache under a DRAM"));
}

TEST(ValidatedMachine, SaysHowWellForItsOwnNameAlone) {
  const Hardware h200 = test::preset("h200");
  const Validated* validated = validated_by(h200, "eager");
  ASSERT_NE(validated, nullptr);
  EXPECT_TRUE(validated->latency_percent && validated->energy_percent && validated->memory_percent);
  EXPECT_FALSE(validated->source.empty());
  EXPECT_EQ(validated_by(h200, "nests"), nullptr);
  EXPECT_EQ(validated_by(test::preset("h100"), "eager"), nullptr);
  const Hardware other = test::must_read("monet: 1\nname: mine\ninclude: h200\nclock: 1 GHz\n");
  EXPECT_EQ(validated_by(other, "eager"), nullptr);
  const std::string said = "validated: {eager: {machine: small, energy: 9.5, source: \"a, b: c\"}}\n";
  const Hardware again = test::must_read(to_yaml(test::must_read(said + test::small_machine)));
  ASSERT_NE(validated_by(again, "eager"), nullptr);
  EXPECT_EQ(validated_by(again, "eager")->energy_percent, 9.5);
  EXPECT_EQ(validated_by(again, "eager")->latency_percent, std::nullopt);
  EXPECT_EQ(validated_by(again, "eager")->source, "a, b: c");
  EXPECT_THAT(test::message_of("validated: {eager: {latency: 5}}\n" + test::small_machine),
              HasSubstr("validated on no machine"));
}

TEST(KernelLawsOfADataSheet, HaveItsRatesAndSizes) {
  const Hardware hardware = test::preset("h200_datasheet");
  const auto laws = kernel_laws_of(hardware, hardware.cores[0]);
  ASSERT_TRUE(laws.has_value()) << laws.error().text();
  EXPECT_EQ(laws->multiprocessors, 132);
  EXPECT_NEAR(laws->ceiling[2], 989e6, 0.01 * 989e6);
  EXPECT_NEAR(laws->memory.memory_rate, 0.9 * 4.8e6, 1e4);
  EXPECT_LT(laws->memory.cache_until, 50 * 1.048576e6);
  Core bare = hardware.cores[0];
  bare.levels.clear();
  bare.kernels = nullptr;
  const auto none = kernel_laws_of(hardware, bare);
  ASSERT_FALSE(none.has_value());
  EXPECT_THAT(none.error().text(), HasSubstr("has no cache under a DRAM"));
}

}  // namespace
}  // namespace monet
