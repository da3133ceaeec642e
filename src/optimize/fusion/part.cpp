#include "optimize/fusion/part.h"

#include "solvers/program.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

namespace monet::fusion {

namespace {

// Operators that are covered, from the one looked at.
constexpr std::size_t window = 128;
struct Mask {
  std::array<std::uint64_t, 2> words{};
  auto operator<=>(const Mask&) const = default;
  bool first() const { return (words[0] & 1U) != 0; }
  void set(std::size_t i) { words[i / 64] |= std::uint64_t{1} << (i % 64); }
  bool meets(const Mask& other) const { return ((words[0] & other.words[0]) | (words[1] & other.words[1])) != 0; }
  Mask with(const Mask& other) const { return {{words[0] | other.words[0], words[1] | other.words[1]}}; }
  Mask shifted() const { return {{(words[0] >> 1) | (words[1] << 63), words[1] >> 1}}; }
};

struct State {
  Mask covered;
  double cost = 0;
  std::uint32_t from = 0;  // in the level before
  std::uint32_t set = 0;   // that was chosen there; none: nothing was
};

Program program_of(const Part& part) {
  Program program;
  for (double cost : part.costs) program.add_binary(cost);
  std::vector<std::vector<Program::Term>> rows(part.operators);
  for (std::size_t s = 0; s < part.sets.size(); ++s) {
    for (Index op : part.sets[s]) rows[op].push_back({static_cast<int>(s), 1});
  }
  for (const auto& row : rows) program.add_row(row, 1, 1);
  std::vector<Program::Term> terms;
  for (const Part::Cut& cut : part.cuts) {
    terms.clear();
    for (std::uint32_t set : cut.sets) terms.push_back({static_cast<int>(set), 1});
    program.add_row(terms, -Program::infinity, static_cast<double>(cut.most));
  }
  return program;
}

// The cheapest single set of each operator: always a cover, and no cut forbids it.
PartCover singles(const Part& part) {
  PartCover result;
  std::vector<std::uint32_t> best(part.operators, Problem::none);
  for (std::uint32_t s = 0; s < part.sets.size(); ++s) {
    if (part.sets[s].size() != 1) continue;
    std::uint32_t& known = best[part.sets[s][0]];
    if (known == Problem::none || part.costs[s] < part.costs[known]) known = s;
  }
  for (std::uint32_t set : best) {
    result.chosen.push_back(set);
    result.cost += part.costs[set];
  }
  return result;
}

double shares(const Part& part) {
  std::vector<double> least(part.operators, std::numeric_limits<double>::infinity());
  for (std::size_t s = 0; s < part.sets.size(); ++s) {
    for (Index op : part.sets[s])
      least[op] = std::min(least[op], part.costs[s] / static_cast<double>(part.sets[s].size()));
  }
  return std::accumulate(least.begin(), least.end(), 0.0);
}

}  // namespace

std::optional<PartCover> cover_in_order(const Part& part, std::size_t states) {
  if (!part.cuts.empty()) return std::nullopt;
  struct Start {
    Mask mask;
    std::uint32_t set;
  };
  std::vector<std::vector<Start>> starts(part.operators);
  for (std::uint32_t s = 0; s < part.sets.size(); ++s) {
    const auto set = part.sets[s];
    if (set.back() - set.front() >= window) return std::nullopt;
    Start start{{}, s};
    for (Index op : set) start.mask.set(op - set.front());
    starts[set.front()].push_back(start);
  }
  std::vector<std::vector<State>> levels(part.operators + 1);
  levels[0].push_back({});
  for (std::size_t i = 0; i < part.operators; ++i) {
    std::vector<State>& next = levels[i + 1];
    for (std::uint32_t k = 0; k < levels[i].size(); ++k) {
      const State& state = levels[i][k];
      if (state.covered.first()) {
        next.push_back({state.covered.shifted(), state.cost, k, Problem::none});
        continue;
      }
      for (const Start& start : starts[i]) {
        if (start.mask.meets(state.covered)) continue;
        next.push_back({state.covered.with(start.mask).shifted(), state.cost + part.costs[start.set], k, start.set});
      }
    }
    std::ranges::sort(next, [](const State& a, const State& b) {
      if (a.covered != b.covered) return a.covered < b.covered;
      return a.cost != b.cost ? a.cost < b.cost : std::pair(a.from, a.set) < std::pair(b.from, b.set);
    });
    next.erase(
        std::unique(next.begin(), next.end(), [](const State& a, const State& b) { return a.covered == b.covered; }),
        next.end());
    if (next.size() > states) return std::nullopt;
  }
  PartCover result;
  std::uint32_t at = 0;
  result.cost = result.bound = levels.back().front().cost;
  for (std::size_t i = part.operators; i > 0; --i) {
    const State& state = levels[i][at];
    if (state.set != Problem::none) result.chosen.push_back(state.set);
    at = state.from;
  }
  std::ranges::reverse(result.chosen);
  return result;
}

PartCover cover_by_program(const Part& part, double time_limit_s, const std::function<bool()>& stop) {
  const double shared = shares(part);
  PartCover fallback = singles(part);
  fallback.bound = shared;
  ProgramOptions options{.time_limit_s = time_limit_s, .relax = false, .start = {}, .stop = stop};
  options.start.assign(part.sets.size(), 0);
  for (std::uint32_t set : fallback.chosen) options.start[set] = 1;
  const ProgramSolution solution = solve(program_of(part), options);
  fallback.bound = std::max(shared, solution.bound);
  if (solution.values.empty()) return fallback;
  PartCover result;
  for (std::uint32_t s = 0; s < part.sets.size(); ++s) {
    if (solution.values[s] < 0.5) continue;
    result.chosen.push_back(s);
    result.cost += part.costs[s];
  }
  const bool optimal = solution.status == ProgramStatus::optimal;
  result.bound = optimal ? result.cost : std::min(result.cost, std::max(shared, solution.bound));
  return result;
}

double relaxed_bound(const Part& part, double time_limit_s, const std::function<bool()>& stop) {
  const ProgramSolution solution =
      solve(program_of(part), {.time_limit_s = time_limit_s, .relax = true, .start = {}, .stop = stop});
  return solution.status == ProgramStatus::optimal ? std::max(solution.cost, shares(part)) : shares(part);
}

}  // namespace monet::fusion
