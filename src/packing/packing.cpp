#include "packing/packing.h"

#include "base/require.h"
#include "packing/greedy.h"
#include "packing/order.h"
#include "packing/portfolio.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>
#include <utility>

namespace monet {

namespace {

// Steps of search and queries of the skyline with effort 1: seconds, and a second.
constexpr double search_work = 1.5e9;
constexpr double greedy_steps = 8e6;
// Entries that the search may hold; larger problems are left to the greedy packings.
constexpr std::int64_t largest_span_total = 1 << 23;

void require_valid(std::span<const PackItem> items) {
  std::int64_t total = 0;
  for (const PackItem& item : items) {
    MONET_REQUIRE(item.lower <= item.upper && item.size >= 0 && item.alignment >= 1);
    MONET_REQUIRE(item.size <= pack_largest_total && item.alignment <= pack_largest_total);
    total += item.size + item.alignment;
    MONET_REQUIRE(total <= pack_largest_total);
  }
}

// One problem on its way: the best so far, and what is known to be too little.
struct Progress {
  const packing::Problem* problem = nullptr;
  packing::Offsets best;
  std::int64_t lower = 0;  // no packing has a lower peak
};

// Until the peak is at most `goal` or the steps run out.
packing::Offsets best_greedy(const packing::Problem& problem, std::int64_t goal, double effort) {
  packing::Offsets best = packing::pack_in_time(problem);
  std::int64_t steps =
      static_cast<std::int64_t>(greedy_steps * std::min(effort, 1.0)) + 64 * std::int64_t{problem.buffers()};
  for (const packing::OrderKind kind : packing::order_kinds) {
    if (best.peak <= goal || steps <= 0) break;
    if (auto found = packing::pack_lowest_first(problem, packing::order_of(problem, kind), best.peak, steps))
      best = *std::move(found);
  }
  return best;
}

packing::Outcome attempt(Progress& state, std::int64_t capacity, std::int64_t work, packing::SearchLimit& limit) {
  packing::SearchLimit part{.work = std::min(work, limit.work), .deadline = limit.deadline, .stop = limit.stop};
  const std::int64_t before = part.work;
  packing::Offsets found;
  const packing::Outcome outcome = packing::find_packing(*state.problem, capacity, part, found);
  limit.work -= before - part.work;
  if (outcome == packing::Outcome::found) state.best = std::move(found);
  if (outcome == packing::Outcome::impossible) state.lower = capacity + 1;
  return outcome;
}

// By search, towards `goal`: it first, for it can be had most of the time, then halving what is left.
void shrink(Progress& state, std::int64_t goal, packing::SearchLimit& limit) {
  std::int64_t next = std::max(goal, state.lower);  // nothing below is tried
  std::int64_t capacity = next, work = limit.work / 2;
  while (state.best.peak > next && !limit.reached()) {
    if (attempt(state, capacity, work, limit) != packing::Outcome::found) next = capacity + 1;
    capacity = next + (state.best.peak - 1 - next) / 2;
    work = std::max<std::int64_t>(limit.work / 4, 1);
  }
}

// What one problem cannot do better, the others need not do either.
void improve(std::vector<Progress>& states, std::int64_t goal, bool capacity_given, packing::SearchLimit& limit) {
  std::ranges::stable_sort(states, std::greater(), [](const Progress& state) { return state.best.peak; });
  for (Progress& state : states) {
    if (state.best.peak <= goal) break;
    if (!limit.reached() && state.problem->span_total() <= largest_span_total) {
      if (!capacity_given) {
        shrink(state, goal, limit);
      } else if (state.lower <= goal) {
        attempt(state, goal, limit.work, limit);
      }
    }
    goal = std::max(goal, state.best.peak);
  }
}

std::optional<std::chrono::steady_clock::time_point> deadline_of(const PackLimits& limits) {
  if (limits.time_limit_s <= 0) return std::nullopt;
  return std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                                std::chrono::duration<double>(std::min(limits.time_limit_s, 1e9)));
}

}  // namespace

std::int64_t max_load(std::span<const PackItem> items) {
  std::int64_t load = 0;
  for (const packing::Problem& problem : packing::split(items, 1)) load = std::max(load, problem.max_load());
  return load;
}

PackResult pack(std::span<const PackItem> items, const PackLimits& limits) {
  require_valid(items);
  MONET_REQUIRE(!limits.capacity || *limits.capacity >= 0);
  const std::int64_t unit = packing::common_unit(items);
  const std::vector<packing::Problem> problems = packing::split(items, unit);
  std::int64_t goal = limits.capacity.value_or(0) / unit;
  if (!limits.capacity) {
    for (const packing::Problem& problem : problems) goal = std::max(goal, problem.max_load());
  }
  const auto work = static_cast<std::int64_t>(std::clamp(search_work * limits.effort, 0.0, 1e18));
  packing::SearchLimit limit{.work = work, .deadline = deadline_of(limits), .stop = limits.stop};
  std::vector<Progress> states;
  for (const packing::Problem& problem : problems)
    states.push_back({&problem, best_greedy(problem, goal, limits.effort), problem.max_load()});
  improve(states, goal, limits.capacity.has_value(), limit);

  PackResult result{.offsets = std::vector<std::int64_t>(items.size(), 0), .work = work - limit.work};
  std::int64_t peak = 0, lower = 0;
  for (const Progress& state : states) {
    peak = std::max(peak, state.best.peak);
    lower = std::max(lower, state.lower);
    for (std::size_t i = 0; i < state.best.offset.size(); ++i)
      result.offsets[state.problem->item[i]] = state.best.offset[i] * unit;
  }
  result.peak = peak * unit;
  result.placed = !limits.capacity || result.peak <= *limits.capacity;
  result.proven = result.placed ? peak == lower : lower > goal;
  return result;
}

}  // namespace monet
