// Best-first search over what is in memory: proves the best price for the given order of first runs, or gives a bound.
#pragma once

#include "remat/prices.h"
#include "remat/repair.h"

#include <cstdint>
#include <limits>
#include <optional>

namespace monet::remat {

struct ExactOptions {
  Moves moves;  // recompute, page
  // No sequence as dear as this is looked for. Infinite: none is known.
  double below = std::numeric_limits<double>::infinity();
  std::size_t most_states = 1'000'000;
  Stop stop = [] { return false; };
};

struct ExactResult {
  // No sequence within the budget, with first runs in the given order, costs less. Infinite: there is none at all.
  double bound = 0;
  bool complete = false;             // every sequence cheaper than `below` was considered
  std::optional<Sequence> sequence;  // the best, where it is cheaper than `below`
  std::size_t states = 0;
};

// How many nodes it takes.
constexpr std::size_t exact_most_nodes = 512;

// Prices are added up by runs; transfers take no time. A state is the next first run, the tensors in memory and those
// with a copy in storage. What it must still cost at least: the first runs to come; the price of having back what is
// missing and needed, with what that needs; and, at the later row that lacks most room, the cheapest way to make it.
// Requires: at most exact_most_nodes nodes.
ExactResult solve_exactly(const Problem& problem, const Prices& prices, std::int64_t budget,
                          const ExactOptions& options);

}  // namespace monet::remat
