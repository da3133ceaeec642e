// Do the presets for low precision take the cycles and energies of their papers, and can they run a whole step?
#include "hardware/opened_preset.h"
#include "hardware/totals.h"
#include "support/shared.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iostream>

namespace monet {
namespace {

using test::preset;

double cycles_of(const Hardware& hardware, double rows, double columns, double depth, double rate) {
  const auto& rule = hardware.cores.front().units.front().cycle_rule;
  EXPECT_TRUE(rule.has_value());
  std::vector<double> values;
  for (const std::string& name : rule->names()) {
    values.push_back(name == "rows"      ? rows
                     : name == "columns" ? columns
                     : name == "depth"   ? depth
                     : name == "rate"    ? rate
                                         : 1);
  }
  return rule->evaluate(values);
}

TEST(PresetsLowPrecision, SnaxTakesDepthAndOneCycleForABlock) {
  const Hardware snax = preset("snax_mx");
  EXPECT_EQ(cycles_of(snax, 8, 8, 64, 1), 64 + 1);
  EXPECT_EQ(cycles_of(snax, 8, 8, 64, 4), 16 + 1);
  EXPECT_EQ(cycles_of(snax, 8, 8, 64, 8), 8 + 1);
  EXPECT_EQ(cycles_of(snax, 17, 9, 64, 8), 3 * 2 * 9);
  EXPECT_EQ(cycles_of(snax, 8, 8, 9, 1), 16 + 1);
  EXPECT_EQ(cycles_of(snax, 8, 8, 9, 4), 4 + 1);
}

TEST(PresetsLowPrecision, ArraysForBlocksUnrollThePositionsOfInputGradients) {
  for (const char* name : {"snax_mx", "mx_square", "dacapo"}) {
    const Hardware hardware = preset(name);
    for (const UnitDimension& dimension : hardware.cores.front().units.front().dimensions) {
      const auto has = [&](Dim dim) { return std::ranges::find(dimension.loops, dim) != dimension.loops.end(); };
      EXPECT_EQ(has(Dim::OY), has(Dim::IY)) << name;
      EXPECT_EQ(has(Dim::OX), has(Dim::IX)) << name;
    }
  }
}

// Bursts of 32 bytes, however wide the memory is.
TEST(PresetsLowPrecision, SmallAccessesToDramPayForABurst) {
  for (const char* name : {"mx_square", "dacapo"}) {
    const Hardware hardware = preset(name);
    const auto dram = std::ranges::find(hardware.memories, MemoryKind::dram, &Memory::kind);
    ASSERT_NE(dram, hardware.memories.end());
    EXPECT_EQ(dram->ports[0].min_bits, 256) << name;
    EXPECT_NEAR(dram->ports[0].bits_per_cycle() * hardware.clock_hz / 8, 204.8e9, 1) << name;
    EXPECT_DOUBLE_EQ(dram->write_pj / static_cast<double>(dram->ports[0].max_bits), 6.25) << name;
  }
}

// Throughput follows from the rule; the energies are those that the abstract of arXiv 2511.06313 states, as an input.
TEST(PresetsLowPrecision, SnaxHasItsPublishedThroughputAndEfficiencyAtLargeDepth) {
  const Hardware snax = preset("snax_mx");
  const Unit& unit = snax.cores.front().units.front();
  struct Row {
    const char* precision;
    double gops, gops_per_watt;
  };
  for (const Row& row :
       {Row{"mxint8", 64, 657}, Row{"mxfp8", 256, 1438}, Row{"mxfp6", 256, 1675}, Row{"mxfp4", 512, 4065}}) {
    const PrecisionRate& precision = *unit.precision(row.precision);
    const auto at = [&](double depth) {
      const double cycles = cycles_of(snax, 512, 512, depth, precision.rate);
      const double operations = 2 * 512 * 512 * depth;
      const double pj = cycles * unit.energy_pj_per_cycle * precision.energy;
      return std::pair{operations / cycles * snax.clock_hz / 1e9, operations / pj * 1e3};
    };
    const auto [gops, gops_per_watt] = at(1 << 20);
    EXPECT_NEAR(gops / row.gops, 1, 1e-4) << row.precision;
    EXPECT_NEAR(gops_per_watt / row.gops_per_watt, 1, 1e-4) << row.precision;
    // One cycle in steps + 1 does nothing, and burns as much.
    const double steps = 64 / precision.rate;
    EXPECT_NEAR(at(64).first / row.gops, steps / (steps + 1), 1e-12) << row.precision;
    EXPECT_NEAR(at(64).second / row.gops_per_watt, steps / (steps + 1), 1e-12) << row.precision;
  }
}

TEST(PresetsLowPrecision, SquareArraysTakeBlocksInTurn) {
  const Hardware square = preset("mx_square");
  // 8 x 8 x 8 takes 8, 2 or 1 cycles, and one to send it; four blocks at a time.
  EXPECT_EQ(cycles_of(square, 8, 8, 8, 1), 8 + 1);
  EXPECT_EQ(cycles_of(square, 8, 8, 8, 4), 2 + 1);
  EXPECT_EQ(cycles_of(square, 8, 8, 8, 8), 1 + 1);
  EXPECT_EQ(cycles_of(square, 16, 16, 64, 8), 8 + 1);
  EXPECT_EQ(cycles_of(square, 17, 16, 60, 4), 2 * (16 + 1));
}

// What Arm's manual says a Cortex-M takes, against software floating point as POET measured it.
TEST(PresetsLowPrecision, IntegersOnACortexM0AreFasterThanFloatsInSoftware) {
  const Hardware device = preset("poet_mkr1000");
  const Rate& rate = *device.cores[0].rate;
  const auto mac = static_cast<std::size_t>(Count::mac);
  const auto cycles = [&](const char* precision) {
    return device.clock_hz * 2 / peak_operations(device, Count::mac, precision);
  };
  EXPECT_NEAR(cycles("fp32"), 2 * 48e6 / (1e6 / 6), 1e-6);  // 2000 operations in 12 ms
  EXPECT_DOUBLE_EQ(cycles("int8"), 2 + 2 + 1 + 1 + 1 + 3.0 / 4);
  EXPECT_DOUBLE_EQ(cycles("int32"), 2 + 2 + 1 + 1 + (3.0 + 2) / 4);
  for (std::size_t i = 0; i < rate.precisions.size(); ++i) {
    // 66 mW, whatever it does.
    EXPECT_NEAR(rate.in(i).energy_pj[mac] * 1e-12 * rate.in(i).operations_per_s[mac], 0.066, 1e-9)
        << rate.precisions[i].name;
  }
}

// Every kind of operation that a training step has, in some core, in numbers that it has.
TEST(PresetsLowPrecision, MachinesForLowPrecisionCanDoEverything) {
  for (const char* name : {"snax_mx", "mx_square", "dacapo", "poet_mkr1000", "poet_m4f"}) {
    const Hardware hardware = preset(name);
    for (std::size_t kind = 0; kind < count_kinds; ++kind) {
      for (const char* precision : {"fp32", "int32", "int8"}) {
        EXPECT_GT(peak_operations(hardware, static_cast<Count>(kind), precision), 0)
            << name << " " << name_of(static_cast<Count>(kind)) << " " << precision;
      }
    }
  }
}

TEST(PresetsLowPrecision, DaCapoWaitsWhenItsQueuesAreFull) {
  const Hardware dacapo = preset("dacapo");
  // One tile of 16 x 16, one dot product: 16 cycles, skew 30, and loading.
  EXPECT_EQ(cycles_of(dacapo, 16, 16, 16, 1), 196 + 16 + 30);
  EXPECT_EQ(cycles_of(dacapo, 16, 16, 16, 16), 196 + 1 + 30);
  // 40 dot products of 16 cycles: after 17 steps of skew the other 13 take 16 cycles each.
  EXPECT_EQ(cycles_of(dacapo, 16, 16, 640, 1), 196 + 40 * 16 + 17 + 13 * 16);
  // 4 cycles each: after 21 steps.
  EXPECT_EQ(cycles_of(dacapo, 16, 16, 640, 4), 196 + 40 * 4 + 21 + 9 * 4);
  // No more dot products than that: nothing waits.
  EXPECT_EQ(cycles_of(dacapo, 16, 16, 17 * 16, 1), 196 + 17 * 16 + 30);
  // Ragged tiles: 16 x 16, 16 x 4, 1 x 16, 1 x 4.
  EXPECT_EQ(cycles_of(dacapo, 17, 20, 16, 16), 196 + 4 + 30 + 18 + 15 + 3);
}

// The repository's own tables, from its simulator. Dimensions of some networks differ a little from those the tables
// were made with (up to 4.75 %).
TEST(PresetsLowPrecision, DaCapoAgreesWithItsSimulator) {
  MONET_SHARED_OR_SKIP(path, "reference/hardware");
  const auto rows_of = [&](const char* name) {
    std::ifstream file(path / name);
    std::vector<std::vector<std::string>> rows;
    for (std::string line; std::getline(file, line);) {
      auto& cells = rows.emplace_back(1);
      for (const char c : line) c == ',' ? cells.emplace_back() : cells.back() += c;
    }
    rows.erase(rows.begin());
    return rows;
  };
  std::map<std::string, std::vector<std::array<double, 3>>> products;
  for (const auto& row : rows_of("dacapo_gemm_dims.csv"))
    products[row[0]].push_back({std::stod(row[2]), std::stod(row[3]), std::stod(row[4])});
  std::map<std::string, Hardware> machines;
  for (int rows = 1; rows <= 16; ++rows)
    machines[std::to_string(rows)] = preset("dacapo", {.parameters = {{"engine_rows", std::to_string(rows)}}});
  double worst = 0, sum = 0;
  std::size_t cases = 0;
  for (const auto& row : rows_of("dacapo_exec_time_tables.csv")) {
    const auto found = products.find(row[0] + "_" + row[1] + "_b" + row[2]);
    if (found == products.end()) continue;
    const double rate = row[3] == "7" ? 1 : row[3] == "4" ? 4 : 16;
    double cycles = 0;
    for (const auto& [m, k, n] : found->second) cycles += cycles_of(machines[row[4]], m, n, k, rate);
    const double error = std::abs(cycles / 500e6 / std::stod(row[6]) - 1);
    worst = std::max(worst, error);
    sum += error;
    ++cases;
  }
  std::cout << cases << " times: mean error " << 100 * sum / static_cast<double>(cases) << " %, worst " << 100 * worst
            << " %\n";
  EXPECT_GE(cases, 600U);
  EXPECT_LE(worst, 0.048);
  EXPECT_LE(sum / static_cast<double>(cases), 0.007);
}

}  // namespace
}  // namespace monet
