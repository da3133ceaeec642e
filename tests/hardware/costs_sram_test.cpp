// Is SRAM costed as the table has it: exactly at its points, between neighbours between them, and rising with size?
#include "base/embedded.h"
#include "hardware/derive/costs.h"
#include "hardware/derive/scaling.h"
#include "hardware/derive/table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

namespace monet {
namespace {

using testing::HasSubstr;

constexpr double kib = 1024, mib = 1024 * 1024;

// Two points of the table cost more than the macro twice as large, which may serve in their place.
bool is_dip(double node, double size, double width) {
  return (node == 45 || node == 65) && size == 4 * kib && width == 1024;
}

TEST(SramCosts, ExactAtEveryPointOfTheTable) {
  const CostTable table(embedded_text("data/hardware/sram.csv"));
  ASSERT_EQ(table.rows(), 436U);
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const double node = table.number(row, "node_nm"), size = table.number(row, "size_bytes");
    const double width = table.number(row, "width_bits");
    const SramCosts costs = sram_costs(size, width, node);
    if (!is_dip(node, size, width)) {
      EXPECT_DOUBLE_EQ(costs.read_pj.value, table.number(row, "read_pj")) << node << " " << size << " " << width;
    }
    EXPECT_DOUBLE_EQ(costs.write_pj.value, table.number(row, "write_pj"));
    EXPECT_DOUBLE_EQ(costs.static_w.value, table.number(row, "leakage_mw") * 1e-3);
    EXPECT_DOUBLE_EQ(costs.area_mm2.value, table.number(row, "area_mm2"));
    EXPECT_EQ(costs.read_pj.confidence, 'A');
    EXPECT_EQ(costs.read_pj.source, "CACTI 7 at " + std::to_string(static_cast<int>(node)) + " nm");
  }
}

TEST(SramCosts, AMacroNeverCostsMoreThanALargerOne) {
  // CACTI 7 has 109.046 pJ for 4 KiB and 108.099 pJ for 8 KiB.
  EXPECT_DOUBLE_EQ(sram_costs(4 * kib, 1024, 45).read_pj.value, 108.099);
  EXPECT_DOUBLE_EQ(sram_costs(8 * kib, 1024, 45).read_pj.value, 108.099);
}

TEST(SramCosts, BetweenPointsAPowerLaw) {
  const auto read = [](double size, double width, double node) { return sram_costs(size, width, node).read_pj.value; };
  // Halfway on a logarithmic axis lies the geometric mean.
  EXPECT_NEAR(read(32 * kib * std::sqrt(2.0), 64, 22), std::sqrt(read(32 * kib, 64, 22) * read(64 * kib, 64, 22)),
              1e-9);
  EXPECT_NEAR(read(mib, 64 * std::sqrt(2.0), 28), std::sqrt(read(mib, 64, 28) * read(mib, 128, 28)), 1e-9);
  EXPECT_NEAR(read(mib, 64, std::sqrt(28.0 * 45)), std::sqrt(read(mib, 64, 28) * read(mib, 64, 45)), 1e-9);
  const DerivedCost cost = sram_costs(48 * kib, 96, 32).read_pj;
  EXPECT_EQ(cost.source, "CACTI 7 between 28 nm and 45 nm, between 32 KiB and 64 KiB, between 64 bit and 128 bit");
  EXPECT_EQ(cost.confidence, 'B');
}

TEST(SramCosts, BeyondTheTable) {
  const double edge = sram_costs(32 * mib, 64, 22).read_pj.value;
  const DerivedCost large = sram_costs(128 * mib, 64, 22).read_pj;
  EXPECT_NEAR(large.value, edge * std::pow(4, 0.5381), 1e-9 * edge);  // exponent of the fit at 22 nm
  EXPECT_THAT(large.source, HasSubstr("extrapolated above 32 MiB"));
  EXPECT_EQ(large.confidence, 'D');

  const double narrow_edge = sram_costs(kib, 32, 22).write_pj.value;
  EXPECT_NEAR(sram_costs(kib, 8, 22).write_pj.value, narrow_edge * std::pow(0.25, 0.9483), 1e-9);

  // Four macros of 2048 bit with a quarter of the size each.
  const DerivedCost wide = sram_costs(8 * mib, 8192, 22).read_pj;
  EXPECT_NEAR(wide.value, 4 * sram_costs(2 * mib, 2048, 22).read_pj.value, 1e-9 * wide.value);
  EXPECT_THAT(wide.source, HasSubstr("4 macros of 2048 bit side by side"));
  EXPECT_EQ(wide.confidence, 'D');

  // A leaking cell leaks the same in any number.
  EXPECT_NEAR(sram_costs(64 * mib, 64, 22).static_w.value, 2 * sram_costs(32 * mib, 64, 22).static_w.value, 1e-12);
}

TEST(SramCosts, OtherNodesAreScaled) {
  // a2 V^2 + a1 V + a0 at 0.8 V: 7 nm 0.06536; 22 nm between 0.45694 at 32 nm and 0.1532 at 20 nm.
  const double at22 = 0.1532 * std::pow(0.45694 / 0.1532, std::log(22.0 / 20) / std::log(32.0 / 20));
  const DerivedCost cost = sram_costs(mib, 512, 7).read_pj;
  EXPECT_NEAR(cost.value / sram_costs(mib, 512, 22).read_pj.value, 0.06536 / at22, 1e-4);
  EXPECT_EQ(cost.source, "CACTI 7 at 22 nm, scaled to 7 nm by Stillmaker and Baas 2017");
  EXPECT_EQ(cost.confidence, 'D');
  EXPECT_NEAR(sram_costs(mib, 512, 90).read_pj.value / sram_costs(mib, 512, 65).read_pj.value, 1.31488 / 0.8598, 1e-4);
  EXPECT_EQ(sram_costs(mib, 512, 7).static_w.value, sram_costs(mib, 512, 22).static_w.value);
}

TEST(SramCosts, KnownFigures) {
  // 512-bit words at 22 nm, as the table's makers print them.
  EXPECT_NEAR(sram_costs(128 * kib, 512, 22).read_pj.value, 31.3, 0.05);
  EXPECT_NEAR(sram_costs(128 * kib, 512, 22).write_pj.value, 41.3, 0.05);
  EXPECT_NEAR(sram_costs(16 * mib, 512, 22).read_pj.value, 505, 0.5);
}

RC_GTEST_PROP(SramCosts, RiseWithSize, ()) {
  const double node = *rc::gen::inRange(3, 150);
  const double width = *rc::gen::inRange(1, 20000);
  const double size = std::exp2(*rc::gen::inRange(0, 360) / 10.0);
  const SramCosts small = sram_costs(size, width, node), large = sram_costs(size * 1.3, width, node);
  RC_ASSERT(small.read_pj.value <= large.read_pj.value * (1 + 1e-12));
  RC_ASSERT(small.write_pj.value <= large.write_pj.value * (1 + 1e-12));
  RC_ASSERT(small.static_w.value <= large.static_w.value * (1 + 1e-12));
  RC_ASSERT(small.area_mm2.value <= large.area_mm2.value * (1 + 1e-12));
  RC_ASSERT(std::isfinite(large.read_pj.value) && large.read_pj.value > 0);
  RC_ASSERT(!large.read_pj.source.empty());
}

RC_GTEST_PROP(SramCosts, LieBetweenNeighbours, ()) {
  const double node = *rc::gen::element(22, 28, 45, 65);
  const double width = *rc::gen::inRange(32, 2049);
  const int step = *rc::gen::inRange(13, 24);
  const double share = *rc::gen::inRange(0, 101) / 100.0;
  const double low = std::exp2(step), high = std::exp2(step + 1);
  const double value = sram_costs(low * std::pow(2, share), width, node).read_pj.value;
  RC_ASSERT(value >= sram_costs(low, width, node).read_pj.value * (1 - 1e-12));
  RC_ASSERT(value <= sram_costs(high, width, node).read_pj.value * (1 + 1e-12));
}

TEST(RegisterCosts, FlipFlopsBelowTheSmallestMacro) {
  const SramCosts costs = register_costs(16, 8, 40);
  EXPECT_NEAR(costs.read_pj.value, 8 * 0.009, 1e-12);
  EXPECT_NEAR(costs.area_mm2.value, 16 * 8 * 5.98e-6, 1e-12);
  EXPECT_EQ(costs.read_pj.confidence, 'A');
  EXPECT_EQ(costs.write_pj.confidence, 'D');
  EXPECT_THAT(costs.read_pj.source, HasSubstr("Aladdin"));
  EXPECT_NEAR(register_costs(16, 8, 22).read_pj.value, 8 * 0.009 * energy_ratio(40, 22, 0.9), 1e-12);
  EXPECT_EQ(register_costs(16, 8, 22).read_pj.confidence, 'D');
  EXPECT_EQ(register_costs(512, 32, 22).read_pj.value, sram_costs(512, 32, 22).read_pj.value);
}

RC_GTEST_PROP(RegisterCosts, RiseWithSize, ()) {
  const double node = *rc::gen::inRange(3, 150);
  const double width = *rc::gen::inRange(1, 4096);
  const double size = *rc::gen::inRange(1, 4096);
  const SramCosts small = register_costs(size, width, node), large = register_costs(size * 2, width, node);
  RC_ASSERT(small.read_pj.value <= large.read_pj.value * (1 + 1e-12));
  RC_ASSERT(small.write_pj.value <= large.write_pj.value * (1 + 1e-12));
}

}  // namespace
}  // namespace monet
