// From sets with prices to covers that are worth a full evaluation.
#pragma once

#include "optimize/fusion/cover.h"
#include "optimize/fusion/price.h"

#include <vector>

namespace monet::fusion {

// Bytes that a set reads from other operators, each tensor once: added up over a cover, what passes between its sets.
double traffic_of(const Problem& problem, std::span<const Index> set);

struct Chosen {
  std::vector<Cover> covers;  // at least one
  bool proven = false;        // none is better in the sum of its prices; edp: in the product of its two sums
  double bound = 0;           // of that
};

// By objective: the fewest sets, the least traffic, the smallest sum of cycles or energy: one cover. The product of
// energy and cycles is no sum. Its least value lies at a corner of the convex hull of all pairs (cycles, energy), and
// each corner is the cheapest cover for some weights of the two: those corners are all found, each time between two
// known ones, and given.
// `prices` may be empty for sets and traffic.
Chosen choose(const Problem& problem, const Candidates& candidates, const Prices& prices, Objective objective,
              const CoverOptions& options);

}  // namespace monet::fusion
