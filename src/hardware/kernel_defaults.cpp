#include "hardware/kernel_defaults.h"

#include <fmt/format.h>

#include <algorithm>

namespace monet {

namespace {

// Of units, whose number a family may change; else as it is stated.
double ceiling_of(const Hardware& hardware, KernelPrecision precision) {
  const std::string_view name = name_of(precision);
  const double of_units = peak_operations(hardware, Count::mac, name);
  if (of_units > 0) return of_units / 1e6;
  const auto stated = std::ranges::find(hardware.peaks, name, &StatedPeak::precision);
  return stated == hardware.peaks.end() ? 0 : stated->operations_per_s / 1e6;
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

void set_where_zero(double& value, double otherwise) {
  if (value == 0) value = otherwise;
}

// Of a board whose power limit is stated, what it does not say: power and energy in the shares of that limit which they
// have on an H200 of 700 W (preset h200: coefficients fitted to data/groundtruth/h200_energy.csv, against its data
// sheet's 67, 494, 989 TFLOP/s, 4.8 TB/s and 9.37 TB/s of L2). A flop at the peak rate takes nearly all of it on any
// board that is built for that; the rest is an estimate, and nothing was compared.
void set_energy(KernelLaws& laws, double memory_rate, double cache_rate) {
  EnergyLaw& energy = laws.energy;
  const double limit = energy.limit_w;
  if (!(limit > 0)) return;
  constexpr std::array<double, kernel_precisions> flop_shares = {0.893, 0.932, 0.974};
  constexpr double picojoules = 1e6;  // of a watt, in a microsecond
  set_where_zero(energy.base_w, 0.209 * limit);
  set_where_zero(energy.busy_w, 0.140 * limit);
  set_where_zero(energy.scalar_w, 0.276 * limit);
  for (std::size_t i = 0; i < kernel_precisions; ++i)
    set_where_zero(energy.flop_pj[i], flop_shares[i] * limit * picojoules / laws.ceiling[i]);
  set_where_zero(energy.byte_pj, 0.348 * limit * picojoules / cache_rate);
  set_where_zero(energy.memory_byte_pj, 0.540 * limit * picojoules / memory_rate);
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
  set_energy(laws, rate_of(hardware, *memory), rate_of(hardware, *cache));
  return laws;
}

}  // namespace monet
