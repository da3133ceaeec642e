#include "mapping/rate.h"

#include <fmt/format.h>

#include <algorithm>

namespace monet {

Counts operations_of(const Problem& problem) {
  Counts counts = problem.per_point;
  const auto points = static_cast<std::int64_t>(problem.points());
  for (std::int64_t& count : counts.of) count *= points;
  return counts;
}

Expected<MappingCost> rate_cost(const Rate& rate, double clock_hz, const Counts& operations,
                                const std::string& precision) {
  KindRates rates = rate;
  if (!rate.precisions.empty()) {
    const auto found = std::ranges::find(rate.precisions, precision, &PrecisionRate::name);
    if (found == rate.precisions.end()) {
      return Error{.kind = ErrorKind::infeasible, .message = fmt::format("the core has no rate for {}", precision)};
    }
    rates = rate.in(static_cast<std::size_t>(found - rate.precisions.begin()));
  }
  MappingCost cost;
  for (std::size_t kind = 0; kind < count_kinds; ++kind) {
    const auto count = static_cast<double>(operations.of[kind]);
    if (count == 0) continue;
    if (rates.operations_per_s[kind] <= 0) {
      return Error{.kind = ErrorKind::infeasible,
                   .message = fmt::format("the core has no rate for \"{}\"", name_of(static_cast<Count>(kind)))};
    }
    cost.compute_cycles += count / rates.operations_per_s[kind] * clock_hz;
    cost.compute_pj += count * rates.energy_pj[kind];
  }
  cost.macs = static_cast<double>(operations[Count::mac]);
  cost.cycles = cost.ideal_cycles = cost.bound_cycles = cost.compute_cycles;
  cost.energy_pj = cost.bound_pj = cost.compute_pj;
  cost.bound_by = "compute";
  return cost;
}

}  // namespace monet
