// Do presets have the numbers that others publish about these machines?
#include "hardware/opened_preset.h"
#include "hardware/totals.h"
#include "support/shared.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>

namespace monet {
namespace {

using test::preset;

TEST(PresetsPublished, PublishedPeaks) {
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
TEST(PresetsPublished, MicrocontrollersTakeAsLongAsMeasuredKernels) {
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

TEST(PresetsPublished, TpusAreMatrixUnitsTimesCellsTimesClock) {
  struct Row {
    const char* name;
    double units, clock_hz;
  };
  for (const Row& row :
       {Row{"tpu_v3", 4, 940e6}, Row{"tpu_v4", 8, 1050e6}, Row{"tpu_v5e", 4, 1500e6}, Row{"tpu_v5p", 8, 1750e6}}) {
    EXPECT_DOUBLE_EQ(peak_operations(preset(row.name), Count::mac, "bf16"), row.units * 128 * 128 * 2 * row.clock_hz);
  }
}

TEST(PresetsPublished, GraphicsProcessorsAreOneGang) {
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

TEST(PresetsPublished, PoetsDevicesHaveItsFigures) {
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

TEST(PresetsPublished, ThePapersFamilies) {
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

TEST(PresetsPublished, HighBandwidthMemoryIsAsLargeAsItsDriverSays) {
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

}  // namespace
}  // namespace monet
