// Is every preset right: does it read, do its peaks come out, does it say where its values come from, and does it have
// the numbers that others publish?
#include "hardware/presets.h"
#include "evaluate/open/hardware.h"
#include "hardware/derive/costs.h"
#include "hardware/totals.h"
#include "support/shared.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iostream>

namespace monet {
namespace {

Hardware preset(const std::string& name, const HardwareOptions& options = {}) {
  auto hardware = open_hardware(name, options);
  if (!hardware) {
    ADD_FAILURE() << name << ": " << hardware.error().text();
    return {};
  }
  return *std::move(hardware);
}

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
                           "dacapo"})
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

TEST(Presets, HighBandwidthMemoryIsAsLargeAsItsDriverSays) {
  struct Reported {
    const char* name;
    double mebibytes;
  };
  // nvidia-smi; for TPUs what Google Cloud states (v4: "32 GiB"), of which XLA reserves some.
  for (const Reported& card :
       {Reported{"a100", 81920}, Reported{"h100", 81559}, Reported{"h200", 143771}, Reported{"tpu_v3", 32768},
        Reported{"tpu_v4", 32768}, Reported{"tpu_v5e", 16384}, Reported{"tpu_v5p", 95 * 1024.0}}) {
    const Hardware hardware = preset(card.name);
    const auto hbm = std::ranges::find(hardware.memories, MemoryKind::dram, &Memory::kind);
    ASSERT_NE(hbm, hardware.memories.end()) << card.name;
    EXPECT_EQ(static_cast<double>(hbm->size_bits), card.mebibytes * 8 * 1024 * 1024) << card.name;
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

TEST(Presets, PublishedPeaks) {
  struct Row {
    const char* name;
    const char* precision;
    double operations_per_s;
  };
  for (const Row& row : {Row{"a100", "bf16", 312e12},
                         Row{"a100", "int8", 624e12},
                         Row{"a100", "fp32", 19.5e12},
                         Row{"a100", "tf32", 156e12},
                         Row{"h100", "bf16", 989e12},
                         Row{"h100", "fp8", 1979e12},
                         Row{"h100", "fp32", 67e12},
                         Row{"h200", "bf16", 989e12},
                         Row{"tpu_v3", "bf16", 123e12},
                         Row{"tpu_v4", "bf16", 275e12},
                         Row{"tpu_v4", "int8", 275e12},
                         Row{"tpu_v5e", "bf16", 197e12},
                         Row{"tpu_v5e", "int8", 394e12},
                         Row{"tpu_v5p", "bf16", 459e12},
                         Row{"tpu_v5p", "int8", 918e12},
                         Row{"coral", "int8", 4e12},
                         Row{"jetson_agx_orin", "int8", 138e12},
                         Row{"jetson_agx_orin", "fp16", 42.5e12},
                         Row{"snax_mx", "mxint8", 64e9},
                         Row{"snax_mx", "mxfp8", 256e9},
                         Row{"snax_mx", "mxfp4", 512e9},
                         Row{"mx_square", "mxint8", 4 * 64 * 2 * 400e6},
                         Row{"mx_square", "mxfp8", 4 * 64 * 4 * 2 * 400e6},
                         Row{"mx_square", "mxfp6", 4 * 64 * 4 * 2 * 400e6},
                         Row{"mx_square", "mxfp4", 4 * 64 * 8 * 2 * 400e6},
                         Row{"dacapo", "mx9", 256e9},
                         Row{"dacapo", "mx6", 1024e9},
                         Row{"dacapo", "mx4", 4096e9},
                         Row{"raspberry_pi_4", "fp32", 48e9}}) {
    const Hardware hardware = preset(row.name);
    EXPECT_TRUE(std::ranges::count(hardware.peaks, row.precision, &StatedPeak::precision)) << row.name;
    EXPECT_NEAR(peak_operations(hardware, Count::mac, row.precision) / row.operations_per_s, 1, 0.02)
        << row.name << " " << row.precision;
  }
}

// Kernels that others measured, in seconds, with their loads and stores.
TEST(Presets, MicrocontrollersTakeAsLongAsMeasuredKernels) {
  struct Kernel {
    const char* name;
    const char* precision;
    double macs, seconds, tolerance;
  };
  const auto mac = static_cast<std::size_t>(Count::mac);
  for (const Kernel& kernel :
       {// CMSIS-NN (arXiv 1801.06601): a network of 12.3 M MACs on an STM32F746 at 216 MHz.
        Kernel{"stm32f746", "int8", 12.3e6, 99.1e-3, 0.02},
        // X-CUBE-AI 3.3 on an STM32F401, a Cortex-M4: 950,717 MACs in 8,350,026 cycles; here at 168 MHz.
        Kernel{"stm32f407", "fp32", 950717, 8350026 / 168e6, 0.05},
        // X-CUBE-AI on a Cortex-M7: 6 cycles a MAC (UM2526).
        Kernel{"stm32h743", "fp32", 1e6, 6e6 / 480e6, 0.01}}) {
    const Hardware hardware = preset(kernel.name);
    const Rate& rate = *hardware.cores.front().rate;
    const auto found = std::ranges::find(rate.precisions, kernel.precision, &PrecisionRate::name);
    ASSERT_NE(found, rate.precisions.end());
    const KindRates rates = rate.in(static_cast<std::size_t>(found - rate.precisions.begin()));
    const double seconds = kernel.macs / rates.operations_per_s[mac];
    EXPECT_NEAR(seconds / kernel.seconds, 1, kernel.tolerance) << kernel.name << " " << kernel.precision;
  }
  // Two operands of 32 bits need a cycle at 64 bits, two at 32 bits: no MAC is faster than its loads.
  for (const char* name : {"stm32f407", "stm32f746", "stm32h743", "poet_m4f", "poet_mkr1000"}) {
    const Hardware hardware = preset(name);
    const double cycles = hardware.clock_hz / hardware.cores.front().rate->operations_per_s[mac];
    const double loads = 64 / hardware.memories.front().ports.front().bits_per_cycle();
    EXPECT_GE(cycles, std::min(loads, 2.0)) << name;
  }
}

TEST(Presets, TpusAreMatrixUnitsTimesCellsTimesClock) {
  struct Row {
    const char* name;
    double units, clock_hz;
  };
  for (const Row& row :
       {Row{"tpu_v3", 4, 940e6}, Row{"tpu_v4", 8, 1050e6}, Row{"tpu_v5e", 4, 1500e6}, Row{"tpu_v5p", 8, 1750e6}}) {
    EXPECT_DOUBLE_EQ(peak_operations(preset(row.name), Count::mac, "bf16"), row.units * 128 * 128 * 2 * row.clock_hz);
  }
}

TEST(Presets, GraphicsProcessorsAreOneGang) {
  for (const auto& [name, multiprocessors] : {std::pair{"a100", 108}, {"h100", 132}, {"h200", 132}}) {
    const Hardware hardware = preset(name);
    ASSERT_EQ(hardware.cores.size(), 1U);
    const Core& core = hardware.cores.front();
    for (const Level& level : core.levels) {
      const std::string& memory = hardware[level.memory].name;
      const bool own = memory.find('/') != std::string::npos;
      const bool in_each_lane = memory == "sm/sums";  // 4 tensor cores of 8 x 4 results
      EXPECT_EQ(instances(core, level), in_each_lane ? multiprocessors * 128
                                        : own        ? multiprocessors
                                                     : 1)
          << name << " " << memory;
    }
  }
}

TEST(Presets, PoetsDevicesHaveItsFigures) {
  MONET_SHARED_OR_SKIP(path, "reference/instances/poet/chipsets.json");
  std::ifstream file(path);
  const auto devices = nlohmann::json::parse(file)["devices"];
  for (const auto& [name, key] : {std::pair{"poet_mkr1000", "mkr1000(m0)"},
                                  {"poet_m4f", "m4f(m4)"},
                                  {"poet_rpi", "rpi(a72)"},
                                  {"poet_rpi_nocache", "rpi_nocache(a72nocache)"}}) {
    const auto& device = devices[key];
    const Hardware hardware = preset(name);
    ASSERT_EQ(hardware.cores.size(), 1U);
    ASSERT_TRUE(hardware.cores[0].rate);
    const Rate& rate = *hardware.cores[0].rate;
    const auto add = static_cast<std::size_t>(Count::add), mac = static_cast<std::size_t>(Count::mac);
    EXPECT_EQ(rate.operations_per_s[add], device["FLOPS"].get<double>()) << name;
    EXPECT_DOUBLE_EQ(rate.operations_per_s[mac], device["FLOPS"].get<double>() / 2) << name;
    EXPECT_DOUBLE_EQ(rate.energy_pj[add] * 1e-12, 1 / device["FLOPS_PER_WATT"].get<double>()) << name;
    EXPECT_DOUBLE_EQ(rate.energy_pj[mac] * 1e-12, 2 / device["FLOPS_PER_WATT"].get<double>()) << name;
    const auto found = std::ranges::find(hardware.memories, MemoryKind::storage, &Memory::kind);
    ASSERT_NE(found, hardware.memories.end());
    const Memory& storage = *found;
    EXPECT_DOUBLE_EQ(storage.read_latency_cycles / hardware.clock_hz, device["PAGEIN_LATENCY"].get<double>()) << name;
    EXPECT_DOUBLE_EQ(storage.write_latency_cycles / hardware.clock_hz, device["PAGEOUT_LATENCY"].get<double>()) << name;
    for (const Port& port : storage.ports) {
      const bool read = port.kind == PortKind::read;
      const double bytes_per_s = device[read ? "PAGEIN_THROUGHPUT" : "PAGEOUT_THROUGHPUT"];
      EXPECT_NEAR(port.bits_per_cycle() * hardware.clock_hz / 8 / bytes_per_s, 1, 1e-12) << name;
      const double pj_per_bit = (read ? storage.read_pj : storage.write_pj) / static_cast<double>(port.max_bits);
      EXPECT_NEAR(pj_per_bit * 8e-12 * bytes_per_s / device["MEMORY_POWER"].get<double>(), 1, 1e-12) << name;
    }
  }
}

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

TEST(Presets, SnaxTakesDepthAndOneCycleForABlock) {
  const Hardware snax = preset("snax_mx");
  EXPECT_EQ(cycles_of(snax, 8, 8, 64, 1), 64 + 1);
  EXPECT_EQ(cycles_of(snax, 8, 8, 64, 4), 16 + 1);
  EXPECT_EQ(cycles_of(snax, 8, 8, 64, 8), 8 + 1);
  EXPECT_EQ(cycles_of(snax, 17, 9, 64, 8), 3 * 2 * 9);
  EXPECT_EQ(cycles_of(snax, 8, 8, 9, 1), 16 + 1);
  EXPECT_EQ(cycles_of(snax, 8, 8, 9, 4), 4 + 1);
}

TEST(Presets, ArraysForBlocksUnrollThePositionsOfInputGradients) {
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
TEST(Presets, SmallAccessesToDramPayForABurst) {
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
TEST(Presets, SnaxHasItsPublishedThroughputAndEfficiencyAtLargeDepth) {
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

TEST(Presets, SquareArraysTakeBlocksInTurn) {
  const Hardware square = preset("mx_square");
  // 8 x 8 x 8 takes 8, 2 or 1 cycles, and one to send it; four blocks at a time.
  EXPECT_EQ(cycles_of(square, 8, 8, 8, 1), 8 + 1);
  EXPECT_EQ(cycles_of(square, 8, 8, 8, 4), 2 + 1);
  EXPECT_EQ(cycles_of(square, 8, 8, 8, 8), 1 + 1);
  EXPECT_EQ(cycles_of(square, 16, 16, 64, 8), 8 + 1);
  EXPECT_EQ(cycles_of(square, 17, 16, 60, 4), 2 * (16 + 1));
}

// What Arm's manual says a Cortex-M takes, against software floating point as POET measured it.
TEST(Presets, IntegersOnACortexM0AreFasterThanFloatsInSoftware) {
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
TEST(Presets, MachinesForLowPrecisionCanDoEverything) {
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

TEST(Presets, DaCapoWaitsWhenItsQueuesAreFull) {
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
TEST(Presets, DaCapoAgreesWithItsSimulator) {
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

TEST(Presets, ThePapersFamilies) {
  const Hardware edge = preset("edge_tpu", {.parameters = {{"x", "8"},
                                                           {"y", "2"},
                                                           {"simd", "128"},
                                                           {"lanes", "8"},
                                                           {"pe_memory", "0.5 MiB"},
                                                           {"register_file", "8 KiB"}}});
  EXPECT_EQ(edge.cores.size(), 16U + 2U);
  EXPECT_EQ(edge.cores.front().units.front().lanes(), 1024);
  const auto memory = [&](const std::string& name) -> const Memory& {
    return *std::ranges::find(edge.memories, name, &Memory::name);
  };
  EXPECT_EQ(memory("pe0_0/weights").size_bits, 8 * 8);  // 8 KiB over 1024 MACs
  EXPECT_EQ(memory("pe0_0/sram").size_bits, 8 * 512 * 1024);
  EXPECT_EQ(memory("pe0_0/sram").read_pj, 416.16);  // whatever the size
  const Hardware two = preset("monet_2x2");
  EXPECT_EQ(two.cores.size(), 4U + 2U);
  EXPECT_EQ(two.cores.front().units.front().lanes(), 4 * 64);
  const Hardware fuse = preset("fusemax", {.parameters = {{"buffer_bandwidth", "8192 bit/cycle"}}});
  EXPECT_EQ(std::ranges::find(fuse.memories, "array/buffer", &Memory::name)->read_pj, 8192);  // 1 pJ a bit
}

}  // namespace
}  // namespace monet
