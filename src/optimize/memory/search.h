// The best plan within budgets: a descent from good beginnings that takes away what is too much at the peak, then
// takes back what is not needed, then tries again from partly undone plans.
#pragma once

#include "base/random.h"
#include "optimize/memory/prices.h"
#include "optimize/pricing/plan_value.h"

#include <functional>
#include <limits>

namespace monet {

struct MemoryGoal {
  PlanValue objective;
  std::int64_t budget_bytes = std::numeric_limits<std::int64_t>::max();  // of the memory that is priced
  double deadline_cycles = std::numeric_limits<double>::infinity();
  bool least_memory = false;  // nothing but the peak counts, within the deadline
};

struct MemorySearchOptions {
  std::size_t evaluations = 400;  // plans that may be priced for one goal
  std::uint64_t seed = 1;
  // The techniques; a search without some of them finds nothing better.
  bool seeds = true;
  bool prune = true;
  bool improve = true;
  std::function<bool()> stop;  // time is up, or the user wants no more
  std::function<void(std::size_t priced, double best)> progress;
};

struct MemoryAnswer {
  Genome genome;
  bool feasible = false;
  double violation = 0;  // of budget and deadline, as shares of them
};

// What is wrong with a plan for a goal: 0, or by what share budget and deadline are exceeded, and for how long.
double violation_of(const MemoryPrice& price, const MemoryGoal& goal);

class MemorySearch {
 public:
  MemorySearch(MemoryPrices& prices, const MemorySearchOptions& options);

  // The best that was found, with addresses and checked; `start` may be empty, else a plan to begin with. Searches
  // begin with all that the prices know.
  Expected<MemoryAnswer> search(const MemoryGoal& goal, const Genome& start = {});

 private:
  struct Score {
    double violation = std::numeric_limits<double>::infinity();
    double value = std::numeric_limits<double>::infinity();
    bool operator<(const Score& other) const {
      return violation != other.violation ? violation < other.violation : value < other.value;
    }
  };
  struct Incumbent {
    Genome genome;
    Score score;
  };

  Score score(const MemoryPrice& price) const;
  Expected<Incumbent> best_known();
  // Moves that take something from the peak of a plan.
  std::vector<Genome> relieving(const Incumbent& at) const;
  Expected<bool> step(Incumbent& at, std::span<const Genome> moves);
  Status descend(Incumbent& at);
  Status prune(Incumbent& at);
  Status improve(Incumbent& at);
  // Where there are no more plans than may be priced: what is left of them.
  Status price_all_of_few();
  Genome partly_undone(const Genome& genome);
  bool is_over() const;

  MemoryPrices& prices_;
  MemorySearchOptions options_;
  MemoryGoal goal_;
  SeededRandom random_;
  std::size_t limit_ = 0;  // of plans that are known
};

// The best of all that the prices know: nothing is searched for.
Expected<MemoryAnswer> best_known(MemoryPrices& prices, const MemoryGoal& goal);

}  // namespace monet
