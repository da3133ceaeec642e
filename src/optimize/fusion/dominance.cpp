#include "optimize/fusion/dominance.h"

#include "optimize/fusion/set_table.h"

#include <bit>
#include <cmath>

namespace monet::fusion {

namespace {

// Larger sets are compared with single operators alone: a set of n has 2^n subsets.
constexpr std::size_t largest = 8;

}  // namespace

std::vector<std::uint8_t> worthwhile(const Candidates& candidates, std::size_t operators,
                                     std::span<const double> costs) {
  const Lists<Index>& sets = candidates.sets;
  const SetTable table(sets);
  std::vector<std::uint8_t> result(sets.size(), 1);
  std::vector<Index> subset;
  for (std::size_t s = operators; s < sets.size(); ++s) {
    const auto set = sets[s];
    double alone = 0;
    for (Index op : set) alone += costs[op];
    bool needed = costs[s] < alone;
    const std::uint32_t all = set.size() <= largest ? (1U << set.size()) - 1 : 0;
    for (std::uint32_t mask = 1; needed && mask < all; ++mask) {
      if (std::popcount(mask) < 2) continue;
      subset.clear();
      double rest = 0;
      for (std::size_t i = 0; i < set.size(); ++i) {
        if (((mask >> i) & 1U) != 0) {
          subset.push_back(set[i]);
        } else {
          rest += costs[set[i]];
        }
      }
      if (rest >= costs[s]) continue;
      const std::uint32_t within = table.find(subset);
      if (within != SetTable::none && costs[within] + rest <= costs[s]) needed = false;
    }
    result[s] = needed && std::isfinite(costs[s]) ? 1 : 0;
  }
  return result;
}

}  // namespace monet::fusion
