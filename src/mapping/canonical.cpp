#include "mapping/canonical.h"

#include "mapping/key.h"

#include <algorithm>
#include <cmath>

namespace monet {

namespace {

// Where cycles decide, energy orders mappings that take equally long: their static energy is the same.
bool static_power_counts(const SearchOptions& options) {
  return options.objective != Objective::latency || options.climb;
}

double lanes_of(const Unit& unit, std::uint32_t dimensions) {
  double lanes = 1;
  for (std::size_t d = 0; d < unit.dimensions.size(); ++d) {
    if ((dimensions >> d & 1U) != 0) lanes *= static_cast<double>(unit.dimensions[d].size);
  }
  return lanes;
}

}  // namespace

std::string common_key_of(const Target& target, const SearchOptions& options) {
  Target common = target;
  for (TargetMemory& memory : common.memories) memory.size_bits = 0;
  if (!static_power_counts(options)) common.static_w = common.clock_hz = 0;
  return key_of(common) + key_of(options);
}

std::vector<std::int64_t> useful_bits(const Problem& problem, const Target& target, const SearchOptions& options) {
  std::vector<std::int64_t> useful;
  for (const TargetMemory& memory : target.memories) useful.push_back(memory.size_bits);
  if (!options.constraints.unrolled.empty()) return useful;
  // Bits in one instance: of all tiles and a second buffer for each, and of what all lanes need in one cycle.
  std::vector<double> tiles(useful.size(), 0);
  std::vector<double> points(useful.size(), 0);
  std::vector<double> extents;
  for (const Loop& loop : problem.loops) extents.push_back(static_cast<double>(loop.size));
  for (const ProblemOperand& operand : problem.operands) {
    const double bits = std::max(operand.bits, static_cast<double>(operand.partial_bits));
    const double whole = elements(operand, extents) * bits;
    std::uint32_t served = 0;
    for (const std::uint8_t memory : target.levels[static_cast<std::size_t>(operand.path)]) {
      served |= target.memories[memory].served;
      tiles[memory] += 2 * (whole + static_cast<double>(operand.piece_bits));
      points[memory] += lanes_of(target.unit, served) * bits;
    }
  }
  for (std::size_t m = 0; m < useful.size(); ++m) {
    // Sizes are sums and products of averages: a margin for what they are off in the last digits.
    const double most = std::ceil(std::max(tiles[m], points[m]) * (1 + 1e-6)) + 1;
    if (most < static_cast<double>(useful[m])) useful[m] = static_cast<std::int64_t>(most);
  }
  return useful;
}

std::string canonical_key(const Problem& problem, const std::string& common, std::span<const std::int64_t> useful) {
  std::string key = key_of(problem) + common;
  key.append(reinterpret_cast<const char*>(useful.data()), useful.size_bytes());
  return key;
}

Target canonical_target(const Target& target, const SearchOptions& options, std::span<const std::int64_t> useful) {
  Target canonical = target;
  for (std::size_t m = 0; m < useful.size(); ++m) canonical.memories[m].size_bits = useful[m];
  if (!static_power_counts(options)) canonical.static_w = 0;
  return canonical;
}

double energy_on(const Target& target, const SearchOptions& options, const MappingCost& cost) {
  const bool has = static_power_counts(options) || !target.effects.static_energy || target.clock_hz <= 0;
  return has ? cost.energy_pj : cost.energy_pj + target.static_w * 1e12 * cost.cycles / target.clock_hz;
}

}  // namespace monet
