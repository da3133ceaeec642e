#include "hardware/hardware.h"

#include "hardware/totals.h"

#include <algorithm>

namespace monet {

namespace {

constexpr std::array<std::string_view, path_count> path_names = {"input", "weight", "output"};
constexpr std::array<std::string_view, transfer_count> transfer_names = {"from_high", "to_low", "from_low", "to_high"};

// Operations of one lane in one cycle, relative to `cycles`; 0: not in this precision.
double rate_of(const std::vector<PrecisionRate>& precisions, std::string_view name) {
  if (precisions.empty()) return 1;
  const auto found =
      std::find_if(precisions.begin(), precisions.end(), [&](const PrecisionRate& p) { return p.name == name; });
  return found == precisions.end() ? 0 : found->rate;
}

double rate_of(const Rate& rate, std::size_t kind, std::string_view name) {
  if (rate.precisions.empty()) return rate.operations_per_s[kind];
  for (std::size_t i = 0; i < rate.precisions.size(); ++i) {
    if (rate.precisions[i].name == name) return rate.in(i).operations_per_s[kind];
  }
  return 0;
}

}  // namespace

std::string_view name_of(Path path) { return path_names[static_cast<std::size_t>(path)]; }

std::optional<Path> path_named(std::string_view name) {
  const auto found = std::find(path_names.begin(), path_names.end(), name);
  if (found == path_names.end()) return std::nullopt;
  return static_cast<Path>(found - path_names.begin());
}

std::string_view name_of(Transfer transfer) { return transfer_names[static_cast<std::size_t>(transfer)]; }

std::optional<Transfer> transfer_named(std::string_view name) {
  const auto found = std::find(transfer_names.begin(), transfer_names.end(), name);
  if (found == transfer_names.end()) return std::nullopt;
  return static_cast<Transfer>(found - transfer_names.begin());
}

std::string_view name_of(PortKind kind) {
  static constexpr std::array<std::string_view, 3> names = {"read", "write", "read_write"};
  return names[static_cast<std::size_t>(kind)];
}

std::string_view name_of(MemoryKind kind) {
  static constexpr std::array<std::string_view, 4> names = {"registers", "sram", "dram", "storage"};
  return names[static_cast<std::size_t>(kind)];
}

bool Level::holds(Path path) const {
  const auto& ports = port[static_cast<std::size_t>(path)];
  return std::any_of(ports.begin(), ports.end(), [](std::int8_t index) { return index != no_port; });
}

std::int64_t Unit::lanes() const {
  std::int64_t lanes = 1;
  for (const UnitDimension& dimension : dimensions) lanes *= dimension.size;
  return lanes;
}

const PrecisionRate* Unit::precision(std::string_view wanted) const {
  const auto found =
      std::find_if(precisions.begin(), precisions.end(), [&](const PrecisionRate& p) { return p.name == wanted; });
  return found == precisions.end() ? nullptr : &*found;
}

CoreId kernel_core(const Hardware& hardware) {
  const auto found = std::ranges::find_if(hardware.cores, [](const Core& core) { return core.kernels != nullptr; });
  if (found == hardware.cores.end()) return {};
  return CoreId(static_cast<std::size_t>(found - hardware.cores.begin()));
}

const Validated* validated_by(const Hardware& hardware, std::string_view lowering) {
  const auto found = std::ranges::find_if(hardware.validated, [&](const Validated& each) {
    return each.lowering == lowering && each.machine == hardware.name;
  });
  return found == hardware.validated.end() ? nullptr : &*found;
}

std::int64_t instances(const Core& core, const Level& level) {
  std::int64_t count = 1;
  if (core.units.empty()) return count;
  const auto& dimensions = core.units.front().dimensions;
  for (std::size_t i = 0; i < dimensions.size(); ++i) {
    if ((level.served >> i & 1U) == 0) count *= dimensions[i].size;
  }
  return count;
}

KindRates Rate::in(std::size_t precision) const {
  KindRates rates = precision < by_precision.size() ? by_precision[precision] : KindRates();
  for (std::size_t kind = 0; kind < count_kinds; ++kind) {
    if (rates.operations_per_s[kind] > 0) continue;
    rates.operations_per_s[kind] = operations_per_s[kind] * precisions[precision].rate;
    rates.energy_pj[kind] = energy_pj[kind] * precisions[precision].energy;
  }
  return rates;
}

namespace {

double peak_of(const Hardware& hardware, Count kind, std::string_view precision, bool composed) {
  const auto index = static_cast<std::size_t>(kind);
  const double operations = kind == Count::mac ? 2 : 1;
  double total = 0;
  for (const Core& core : hardware.cores) {
    double best = 0;  // of its units, which take turns
    for (const Unit& unit : core.units) {
      if (unit.cycles[index] <= 0 || (kind == Count::mac && composes_macs(unit) != composed)) continue;
      const double per_cycle =
          static_cast<double>(unit.lanes()) * rate_of(unit.precisions, precision) / unit.cycles[index];
      best = std::max(best, per_cycle * hardware.clock_hz);
    }
    if (core.rate) best = std::max(best, rate_of(*core.rate, index, precision));
    total += best * operations;
  }
  return total;
}

}  // namespace

double peak_operations(const Hardware& hardware, Count kind, std::string_view precision) {
  const bool has_macs = std::ranges::any_of(hardware.cores, [](const Core& core) {
    return core.rate || std::ranges::any_of(core.units, [](const Unit& unit) {
             return unit.cycles[static_cast<std::size_t>(Count::mac)] > 0 && !composes_macs(unit);
           });
  });
  return peak_of(hardware, kind, precision, !has_macs);
}

}  // namespace monet
