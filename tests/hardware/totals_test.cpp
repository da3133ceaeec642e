// Is a total the sum of all parts, and is one that lacks a part said to be none? Is a MAC of a product and a sum no
// unit for MACs?
#include "hardware/totals.h"

#include "hardware/derive/costs.h"
#include "hardware/support.h"

namespace monet::test {
namespace {

std::string with_precision(const std::string& precisions) {
  return changed("operations: {mac: {energy: 0.5 pJ}}",
                 "operations: {mac: {energy: 0.5 pJ}}\n      precisions: {" + precisions + "}");
}

TEST(Totals, AreaOfAnArrayIsThatOfItsLanes) {
  const Hardware hardware = must_read(with_precision("int8: {accumulate: int32}, bf16: {rate: 0.5, accumulate: fp32}"));
  // Eight lanes; half as many products in bf16 still need more than those in int8.
  const double lane =
      std::max(lane_um2(true, true, "int8", "int32", 22)->value, 0.5 * lane_um2(true, true, "bf16", "fp32", 22)->value);
  const Unit& array = hardware.cores.front().units.front();
  EXPECT_NEAR(array.area_mm2, 8 * lane * 1e-6, 1e-15);
  const MachineTotals totals = totals_of(hardware);
  EXPECT_EQ(totals.without_area, "");
  EXPECT_NEAR(
      totals.area_mm2,
      array.area_mm2 + 8 * memory_named(hardware, "pe/registers").area_mm2 + memory_named(hardware, "pe/sram").area_mm2,
      1e-12);
  // Twice the array, twice the area of it.
  const Hardware twice = must_read(with(with_precision("int8: {accumulate: int32}"), "{K: 4,", "{K: 8,"));
  const Hardware once = must_read(with_precision("int8: {accumulate: int32}"));
  EXPECT_NEAR(twice.cores.front().units.front().area_mm2, 2 * once.cores.front().units.front().area_mm2, 1e-15);
}

TEST(Totals, WithoutAPartThereIsNone) {
  // No precision is listed, so no table says how large a lane is.
  EXPECT_EQ(totals_of(must_read(small_machine)).without_area, "core pe: array");
  EXPECT_EQ(totals_of(must_read(with_precision("mx9: 1"))).without_area, "core pe: array");
  const std::string no_node = with(with_precision("int8: 1"), "technology: 22 nm\n", "");
  EXPECT_EQ(totals_of(must_read(no_node)).without_area, "core pe: array");
  const std::string stated = with(no_node, "  pe:\n", "  pe:\n    area: 2 mm2\n");
  EXPECT_EQ(totals_of(must_read(stated)).without_area, "memory registers");
  EXPECT_EQ(totals_of(must_read(small_machine)).without_static_power, "core pe");
  EXPECT_EQ(
      totals_of(must_read(changed("clock: 500 MHz\n", "clock: 500 MHz\nstatic_power: 1 W\n"))).without_static_power,
      "");
  EXPECT_EQ(totals_of(must_read(changed("  pe:\n", "  pe:\n    static_power: 1 mW\n"))).without_static_power, "");
}

TEST(Totals, AStatedAreaOfTheCoreIsThatOfItsUnits) {
  const std::string stated = with(with_precision("int8: 1"), "  pe:\n", "  pe:\n    area: 2 mm2\n");
  const Hardware hardware = must_read(stated);
  EXPECT_EQ(hardware.cores.front().units.front().area_mm2, 0);
  EXPECT_EQ(totals_of(hardware).without_area, "");
}

std::string with_vector(const std::string& operations) {
  return changed("    array:\n", "    vector:\n      lanes: 16\n      operations: {" + operations + "}\n    array:\n");
}

TEST(Totals, AVectorUnitMultipliesAndAdds) {
  const Hardware hardware =
      must_read(with_vector("add: {cycles: 2, energy: 0.25 pJ}, multiply: {cycles: 3, energy: 1 pJ}"));
  const Unit& vector = hardware.cores.front().units.back();
  const auto mac = static_cast<std::size_t>(Count::mac);
  EXPECT_EQ(vector.cycles[mac], 5);
  EXPECT_EQ(vector.energy_pj[mac], 1.25);
  EXPECT_TRUE(composes_macs(vector));
  EXPECT_FALSE(composes_macs(hardware.cores.front().units.front()));
  // It counts for no peak beside an array.
  EXPECT_EQ(totals_of(hardware).macs_per_cycle, 8);
  EXPECT_EQ(peak_operations(hardware, Count::mac, "any"), 2 * 8 * 500e6);
  const Unit adds = must_read(with_vector("add: {cycles: 2, energy: 0.25 pJ}")).cores.front().units.back();
  EXPECT_EQ(adds.cycles[mac], 0);
}

}  // namespace
}  // namespace monet::test
