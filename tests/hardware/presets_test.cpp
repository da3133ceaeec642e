// Is every preset right: does it read, do its peaks come out, does it say where its values come from?
#include "hardware/presets.h"
#include "hardware/derive/costs.h"
#include "hardware/opened_preset.h"
#include "hardware/totals.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace monet {
namespace {

using test::preset;

TEST(Presets, AllThatWerePromised) {
  for (const char* name : {"edge_tpu",
                           "fusemax",
                           "monet_2x2",
                           "tpu_like",
                           "edge_tpu_like",
                           "meta_prototype",
                           "ascend_like",
                           "tesla_npu_like",
                           "eyeriss_like",
                           "gemm_l1",
                           "tpu_like_quad_core",
                           "eyeriss_like_quad_core",
                           "eyeriss_like_single_core",
                           "stream_fusemax",
                           "depfin",
                           "diana",
                           "aimc_4x4",
                           "poet_mkr1000",
                           "poet_m4f",
                           "poet_rpi",
                           "poet_rpi_nocache",
                           "poet_tx2",
                           "stm32f407",
                           "stm32f746",
                           "stm32h743",
                           "raspberry_pi_4",
                           "coral",
                           "jetson_agx_orin",
                           "tpu_v3",
                           "tpu_v4",
                           "tpu_v5e",
                           "tpu_v5p",
                           "a100",
                           "h100",
                           "h200",
                           "snax_mx",
                           "mx_square",
                           "dacapo",
                           "dgx_a100",
                           "dgx_h100",
                           "dgx_h200",
                           "tpu_v4_pod",
                           "tpu_v5p_pod",
                           "orin_pair"})
    EXPECT_NE(preset_text(name), nullptr) << name;
  EXPECT_EQ(preset_text("abacus"), nullptr);
  EXPECT_TRUE(std::ranges::is_sorted(preset_names()));
}

TEST(Presets, EveryOneReads) {
  for (const std::string& name : preset_names()) {
    const Hardware hardware = preset(name);
    EXPECT_EQ(hardware.name, name);
    EXPECT_FALSE(hardware.description.empty()) << name;
    EXPECT_GT(hardware.clock_hz, 0) << name;
    EXPECT_FALSE(hardware.cores.empty()) << name;
  }
}

// Bits of the numbers that an array of this arithmetic multiplies and adds.
struct ArithmeticWidths {
  const char* word;
  const char* accumulate;
  std::int64_t operand, sum;
};

TEST(Presets, ArithmeticMakesAnotherMachineOfTheSameShape) {
  int families = 0;
  for (const std::string& name : preset_names()) {
    const Hardware published = preset(name);
    const auto is_arithmetic = [](const auto& parameter) { return parameter.first == "arithmetic"; };
    if (std::ranges::none_of(published.parameters, is_arithmetic)) continue;
    ++families;
    for (const ArithmeticWidths& wanted :
         {ArithmeticWidths{"bf16", "fp32", 16, 32}, ArithmeticWidths{"fp32", "", 32, 32}}) {
      SCOPED_TRACE(name + " in " + wanted.word);
      const Hardware machine = preset(name, {.parameters = {{"arithmetic", wanted.word}}});
      ASSERT_EQ(machine.cores.size(), published.cores.size());
      for (std::size_t c = 0; c < machine.cores.size(); ++c) {
        const Core& core = machine.cores[c];
        for (const Unit& unit : core.units) {
          // Lanes beside the array take fp32 too, for statistics.
          ASSERT_TRUE(unit.precisions.size() == 1 || (unit.precisions.size() == 2 && c > 0));
          EXPECT_EQ(unit.precisions.back().name, unit.precisions.size() == 1 ? wanted.word : "fp32");
          EXPECT_EQ(unit.precisions.front().name, wanted.word);
          EXPECT_EQ(unit.precisions.front().accumulate, wanted.accumulate);
          for (std::size_t kind = 0; kind < count_kinds; ++kind) {
            if (unit.cycles[kind] == 0) continue;
            const auto table =
                operation_pj(static_cast<Count>(kind), wanted.word, wanted.accumulate, machine.technology_nm);
            if (static_cast<Count>(kind) == Count::mac && composes_macs(unit)) continue;
            EXPECT_EQ(unit.energy_pj[kind], table ? table->value : 0) << name_of(static_cast<Count>(kind));
          }
        }
        for (std::size_t l = 0; l < core.levels.size(); ++l) {
          const Memory& memory = machine[core.levels[l].memory];
          const Memory& before = published[published.cores[c].levels[l].memory];
          EXPECT_GE(memory.size_bits, before.size_bits) << memory.name;
          if (memory.kind != MemoryKind::registers) continue;
          const bool sums = core.levels[l].holds(Path::output);
          for (const Port& port : memory.ports) EXPECT_GE(port.max_bits, sums ? wanted.sum : wanted.operand);
          // A bit costs what it did.
          EXPECT_NEAR(memory.read_pj / static_cast<double>(memory.ports.front().max_bits),
                      before.read_pj / static_cast<double>(before.ports.front().max_bits), 1e-12)
              << memory.name;
        }
      }
    }
  }
  EXPECT_GE(families, 12);
}

TEST(Presets, EveryValueSaysWhereItComesFrom) {
  for (const std::string& name : preset_names()) {
    for (const Origin& origin : preset(name).origins) {
      EXPECT_FALSE(origin.source.empty()) << name << ": " << origin.part << " " << origin.quantity;
      EXPECT_NE(origin.confidence, '-') << name << ": " << origin.part << " " << origin.quantity;
    }
  }
}

TEST(Presets, StatedPeaksComeOut) {
  for (const std::string& name : preset_names()) {
    const Hardware hardware = preset(name);
    for (const StatedPeak& peak : hardware.peaks) {
      const double modelled = peak_operations(hardware, Count::mac, peak.precision);
      const double deviation = (modelled / peak.operations_per_s - 1) * 100;
      std::cout << name << " " << peak.precision << ": " << modelled << " of " << peak.operations_per_s << ", "
                << deviation << " %\n";
      EXPECT_LE(std::abs(deviation), 2) << name << " " << peak.precision;
    }
  }
}

}  // namespace
}  // namespace monet
