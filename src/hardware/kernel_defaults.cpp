#include "hardware/kernel_defaults.h"

#include <fmt/format.h>

#include <algorithm>

namespace monet {

namespace {

double ceiling_of(const Hardware& hardware, KernelPrecision precision) {
  const std::string_view name = name_of(precision);
  for (const StatedPeak& peak : hardware.peaks)
    if (peak.precision == name) return peak.operations_per_s / 1e6;
  return peak_operations(hardware, Count::mac, name) / 1e6;
}

double rate_of(const Hardware& hardware, const Memory& memory) {
  double bits = 0;
  for (const Port& port : memory.ports) bits = std::max(bits, port.bits_per_cycle());
  return bits * hardware.clock_hz / 8e6;
}

// The largest SRAM of the core and the DRAM above it.
struct Caches {
  const Memory* cache = nullptr;
  const Memory* memory = nullptr;
};
Caches caches_of(const Hardware& hardware, const Core& core) {
  Caches result;
  for (const Level& level : core.levels) {
    const Memory& memory = hardware[level.memory];
    if (memory.kind == MemoryKind::dram && result.memory == nullptr) result.memory = &memory;
    if (memory.kind == MemoryKind::sram && (result.cache == nullptr || memory.size_bits > result.cache->size_bits))
      result.cache = &memory;
  }
  return result;
}

double gang_of(const Core& core) {
  for (const Unit& unit : core.units)
    for (const UnitDimension& dimension : unit.dimensions)
      if (dimension.name == "gang") return static_cast<double>(dimension.size);
  return 1;
}

}  // namespace

Expected<KernelLaws> kernel_laws_of(const Hardware& hardware, const Core& core) {
  if (core.kernels && core.kernels->multiprocessors > 0) return *core.kernels;
  const auto [cache, memory] = caches_of(hardware, core);
  if (cache == nullptr || memory == nullptr)
    return Error{.message = fmt::format("core '{}' of {} has no cache under a DRAM", core.name, hardware.name),
                 .place = {},
                 .advice = "describe its L2 as sram and its memory as dram, as h200_datasheet does"};
  KernelLaws laws;
  if (core.kernels) laws = *core.kernels;  // source and energy
  laws.multiprocessors = gang_of(core);
  for (std::size_t i = 0; i < kernel_precisions; ++i)
    laws.ceiling[i] = ceiling_of(hardware, static_cast<KernelPrecision>(i));
  // What has no tensor cores multiplies tf32 and bf16 as it does fp32.
  for (double& ceiling : laws.ceiling) ceiling = ceiling > 0 ? ceiling : laws.ceiling[0];
  if (!(laws.ceiling[0] > 0))
    return Error{.message = fmt::format("{} is no graphics processor, or does not say so: it states no peak for fp32",
                                        hardware.name),
                 .place = {},
                 .advice = "write peak: {fp32: 67 TFLOP/s} into its file"};
  const double cache_bytes = static_cast<double>(cache->size_bits) / 8;
  // Shares of what a data sheet states, as one chip was measured (H200, data/groundtruth/h200_micro2.csv): 4.27 of 4.8
  // TB/s; cache rates up to 33 and none from 60 of 52 MB on; an operand is cold after 38 MB. Of others unknown.
  laws.memory.memory_rate = 0.9 * rate_of(hardware, *memory);
  laws.memory.cache_rate = std::max(laws.memory.memory_rate, 0.75 * rate_of(hardware, *cache));
  laws.memory.cache_until = 0.6 * cache_bytes;
  laws.memory.memory_from = 1.1 * cache_bytes;
  laws.memory.cold_after = 0.75 * cache_bytes;
  if (!(laws.memory.memory_rate > 0) || !(cache_bytes > 0))
    return Error{.message = fmt::format("the memories of core '{}' have no size or bandwidth", core.name),
                 .place = {},
                 .advice = "state them"};
  return laws;
}

}  // namespace monet
