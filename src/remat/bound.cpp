#include "remat/bound.h"

#include "base/stopwatch.h"
#include "remat/exact.h"
#include "remat/stage_bound.h"

#include <algorithm>
#include <chrono>

namespace monet::remat {

namespace {

using Clock = std::chrono::steady_clock;

// Large sets are slower to handle and prove less.
std::size_t states_for(std::size_t nodes) { return nodes <= 64 ? 100'000 : nodes <= 128 ? 10'000 : 3'000; }

}  // namespace

Bound lower_bound(const Problem& problem, const Goal& goal, const BoundOptions& options) {
  const auto start = Clock::now();
  const Prices prices =
      goal.objective == Objective::time ? prices_of(problem, {.time = 1}) : prices_of(problem, {.energy = 1});
  Bound bound;
  for (const double price : prices.compute) bound.price += price;
  double known = options.known;
  const auto left = [&] { return options.time_limit_s - seconds_since(start); };
  const auto proven = [&] { return bound.price >= known * (1 - equal_prices) || left() <= 0 || options.stop(); };
  const auto by_stages = [&](std::size_t variables) {
    if (proven()) return;
    StageResult result = stage_bound(problem, prices, goal.budget,
                                     {.moves = options.moves,
                                      .below = known,
                                      .most_variables = variables,
                                      .time_limit_s = left(),
                                      .stop = options.stop});
    bound.price = std::max(bound.price, result.bound);
    if (result.sequence) bound.starts.push_back(std::move(*result.sequence));
  };

  if (!proven() && problem.size() <= exact_most_nodes) {
    const double share = left() / 2;
    ExactResult exact =
        solve_exactly(problem, prices, goal.budget,
                      {.moves = options.moves, .below = known, .most_states = states_for(problem.size()), .stop = [&] {
                         return options.stop() || seconds_since(start) > share;
                       }});
    bound.price = std::max(bound.price, exact.bound);
    if (exact.sequence) {
      known = exact.bound;
      bound.sequence = std::move(exact.sequence);
    }
  }
  for (const std::size_t variables : {500, 2000}) by_stages(variables);
  return bound;
}

}  // namespace monet::remat
