#include "remat/goal.h"

#include <algorithm>

namespace monet::remat {

Measure::Measure(const Problem& problem, const Goal& goal)
    : problem_(problem),
      goal_(goal),
      times_(prices_of(problem, {.time = 1})),
      energies_(prices_of(problem, {.energy = 1})),
      timing_(problem) {}

bool Measure::needs_timing(const Sequence& sequence) const {
  return goal_.transfers_take_time && (goal_.deadline || goal_.objective == Objective::time) &&
         std::ranges::any_of(sequence, &Run::paged);
}

Value Measure::value_of(Sequence& sequence, Profile& profile) {
  Value value{.excess = 0};
  for (Row row = 0; row < profile.rows() && profile.peak() > goal_.budget; ++row)
    value.excess += static_cast<double>(std::max<std::int64_t>(0, profile.bytes(row) - goal_.budget));
  double time = 0;
  if (value.excess == 0 && needs_timing(sequence)) {
    prefetch(sequence, profile, problem_, goal_.budget);
    time = timing_.end_time(sequence, profile, goal_.budget);
  } else if (goal_.deadline || goal_.objective == Objective::time) {
    time = total_price(sequence, times_);
  }
  constexpr double rounding = 1e-12;
  if (goal_.deadline && time > *goal_.deadline * (1 + rounding)) value.late = time - *goal_.deadline;
  value.price = goal_.objective == Objective::time ? time : total_price(sequence, energies_);
  return value;
}

}  // namespace monet::remat
