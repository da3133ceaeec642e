// A bare problem from start to end: search, bound, check.
#pragma once

#include "remat/check.h"
#include "remat/search.h"

#include <optional>

namespace monet::remat {

enum class Method : std::uint8_t { search, milp };

struct SolveOptions {
  Method method = Method::search;
  Moves moves;        // `reorder`: first in the given order, then in any
  bool bound = true;  // look for a lower bound
  std::uint64_t seed = 0;
  std::size_t jobs = 0;
  double time_limit_s = 5;  // wall time
  Stop stop = [] { return false; };
  std::function<void(const Value&)> progress;
};

struct Answer {
  Value value;
  Schedule schedule;
  CheckedSchedule checked;
};

struct Solution {
  // What was found within the budget and the deadline.
  std::optional<Answer> given;      // first runs in the given order
  std::optional<Answer> reordered;  // in any; no worse
  std::optional<double> bound;      // of the price in the given order; infinite: nothing fits
  bool proven = false;              // the price in the given order is the least, or that nothing fits is certain
  bool reordered_proven = false;
  bool out_of_time = false;  // the search was cut short
  // Where nothing was found: what would do.
  std::optional<std::int64_t> smallest_budget;  // with which a schedule was found, whatever its time
  std::optional<double> shortest_time;          // found within the budget
};

// Every answer has passed the check; one that does not is a defect, and the check says so.
Solution solve(const Problem& problem, const Goal& goal, const SolveOptions& options);

}  // namespace monet::remat
