// What is asked for, and how good a sequence is.
#pragma once

#include "remat/prices.h"
#include "remat/timing.h"

#include <compare>
#include <limits>
#include <optional>

namespace monet::remat {

enum class Objective : std::uint8_t { time, energy };

struct Goal {
  std::int64_t budget = 0;  // bytes, fixed ones included
  Objective objective = Objective::time;
  std::optional<double> deadline;   // in Problem::time_unit
  bool transfers_take_time = true;  // false: they are free in time, as in POET's model
};

// Smaller is better, from the first field to the last.
struct Value {
  double excess = std::numeric_limits<double>::infinity();  // bytes over the budget, of all runs
  double late = 0;                                          // time over the deadline
  double price = 0;                                         // time or energy

  auto operator<=>(const Value&) const = default;
  bool feasible() const { return excess == 0 && late == 0; }
};

class Measure {
 public:
  // Both must outlive this.
  Measure(const Problem& problem, const Goal& goal);

  // Requires `profile` of `sequence`. Where the time of transfers counts, page-ins are moved up for it.
  Value value_of(Sequence& sequence, Profile& profile);

  // Where the time of transfers counts, and there are any.
  bool needs_timing(const Sequence& sequence) const;

 private:
  const Problem& problem_;
  const Goal& goal_;
  Prices times_, energies_;
  Timing timing_;
};

}  // namespace monet::remat
