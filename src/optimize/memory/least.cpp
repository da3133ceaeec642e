#include "optimize/memory/least.h"

#include "base/try.h"

namespace monet {

Expected<LeastMemory> find_least(MemoryPrices& prices, const MemoryGoal& goal, const MemorySearchOptions& options) {
  constexpr std::size_t most = 10;
  MemoryGoal least = goal;
  least.least_memory = true;
  MONET_TRY(MemoryAnswer answer, MemorySearch(prices, options).search(least));
  MONET_TRY(const MemoryPrice* price, prices.price_exactly(answer.genome));
  LeastMemory result{.peak_bytes = price->peak_bytes, .cycles = price->price.cycles};
  MONET_TRY(result.forced_by, prices.alive_at_peak(answer.genome, most));
  result.genome = std::move(answer.genome);
  return result;
}

Expected<LastTry> try_the_least(MemoryPrices& prices, const MemoryGoal& goal, const MemorySearchOptions& options) {
  MemoryPrices afresh(prices.input());
  LastTry result;
  MONET_TRY(result.least, find_least(afresh, goal, options));
  result.priced = afresh.known().size();
  MONET_TRY(const MemoryPrice* price, prices.price_exactly(result.least.genome));
  if (violation_of(*price, goal) > 0) return result;
  MONET_TRY(MemoryAnswer best, best_known(prices, goal));
  result.best = std::move(best.genome);
  return result;
}

}  // namespace monet
