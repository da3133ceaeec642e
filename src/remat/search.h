// The search for a cheap sequence within the budget: several large-neighbourhood searches with seeds of their own,
// which now and then go on from the best of them.
#pragma once

#include "remat/goal.h"
#include "remat/repair.h"

#include <cstdint>
#include <functional>
#include <limits>
#include <span>

namespace monet::remat {

struct SearchOptions {
  Moves moves;
  std::uint64_t seed = 0;
  std::size_t seeds = 4;  // searches side by side
  std::size_t jobs = 0;   // threads; 0: as many as there are processors. The answer is the same for any number
  // Without improvement for so many rounds, and for three times as many as it took to the last one, it ends.
  std::size_t patience = 40;
  double enough = -std::numeric_limits<double>::infinity();  // a price at which it ends: no sequence costs less
  Stop stop = [] { return false; };
  std::function<void(const Value&)> progress;  // at each improvement; called by one thread
};

struct SearchResult {
  Sequence sequence;
  Value value;
  std::size_t rounds = 0;
  bool stopped = false;  // by `stop`
};

// Requires: `starts` are sequences of the problem, at least one; they may be over the budget.
SearchResult search(const Problem& problem, const Goal& goal, std::span<const Sequence> starts,
                    const SearchOptions& options);

}  // namespace monet::remat
