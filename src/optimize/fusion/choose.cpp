#include "optimize/fusion/choose.h"

#include <algorithm>
#include <limits>

namespace monet::fusion {

namespace {

constexpr std::size_t most_corners = 32;
constexpr double infinite_cost = std::numeric_limits<double>::infinity();

// A single operator without a price (the search was stopped) costs nothing: it stays single.
double cost_of(const Problem& problem, const Prices& prices, std::uint32_t set, double energy, double cycles) {
  const std::vector<PricedTiles>& ways = prices.of(set).ways;
  if (ways.empty()) return set < problem.size() ? 0 : infinite_cost;
  return energy * ways.front().cost.energy_pj + cycles * ways.front().cost.cycles;
}

class Corners {
 public:
  Corners(const Problem& problem, const Candidates& candidates, const Prices& prices, const CoverOptions& options)
      : problem_(problem), candidates_(candidates), prices_(prices), options_(options) {}

  Chosen run() {
    const Corner fast = solve(0, 1), frugal = solve(1, 0);
    keep(fast);
    if (differ(fast, frugal)) {
      keep(frugal);
      between(fast, frugal);
    }
    const auto product = [](const Corner& corner) { return corner.cost.cycles * corner.cost.energy_pj; };
    std::ranges::stable_sort(corners_, {}, product);
    Chosen result{.covers = {}, .proven = proven_, .bound = proven_ ? product(corners_.front()) : 0};
    for (Corner& corner : corners_) result.covers.push_back(std::move(corner.cover));
    return result;
  }

 private:
  struct Corner {
    Cover cover;
    Cost cost;
  };

  static bool differ(const Corner& a, const Corner& b) { return a.cover.chosen != b.cover.chosen; }
  void keep(const Corner& corner) { corners_.push_back(corner); }

  Corner solve(double energy, double cycles) {
    std::vector<double> costs;
    for (std::uint32_t s = 0; s < candidates_.sets.size(); ++s) {
      costs.push_back(cost_of(problem_, prices_, s, energy, cycles));
    }
    Corner corner{.cover = cover(problem_, candidates_, costs, options_), .cost = {}};
    proven_ = proven_ && corner.cover.proven;
    for (std::uint32_t s : corner.cover.chosen) {
      corner.cost.cycles += cost_of(problem_, prices_, s, 0, 1);
      corner.cost.energy_pj += cost_of(problem_, prices_, s, 1, 0);
    }
    return corner;
  }

  // `a` is faster and takes more energy. What lies below the line between them is a corner.
  void between(const Corner& a, const Corner& b) {
    if (corners_.size() >= most_corners) {
      proven_ = false;
      return;
    }
    const double energy = b.cost.cycles - a.cost.cycles;
    const double cycles = a.cost.energy_pj - b.cost.energy_pj;
    if (!(energy > 0) || !(cycles > 0)) return;
    const Corner middle = solve(energy, cycles);
    const double on_line = energy * a.cost.energy_pj + cycles * a.cost.cycles;
    if (energy * middle.cost.energy_pj + cycles * middle.cost.cycles >= on_line * (1 - 1e-9)) return;
    keep(middle);
    between(a, middle);
    between(middle, b);
  }

  const Problem& problem_;
  const Candidates& candidates_;
  const Prices& prices_;
  const CoverOptions& options_;
  std::vector<Corner> corners_;
  bool proven_ = true;
};

}  // namespace

double traffic_of(const Problem& problem, std::span<const Index> set) {
  std::vector<std::uint32_t> tensors;
  for (Index op : set) {
    for (const Read& read : problem.reads[op]) {
      if (!std::ranges::binary_search(set, read.maker)) tensors.push_back(read.tensor);
    }
  }
  std::ranges::sort(tensors);
  tensors.erase(std::unique(tensors.begin(), tensors.end()), tensors.end());
  double bytes = 0;
  for (std::uint32_t tensor : tensors) bytes += static_cast<double>(problem.bytes[tensor]);
  return bytes;
}

Chosen choose(const Problem& problem, const Candidates& candidates, const Prices& prices, Objective objective,
              const CoverOptions& options) {
  if (objective == Objective::edp) return Corners(problem, candidates, prices, options).run();
  std::vector<double> costs;
  for (std::uint32_t s = 0; s < candidates.sets.size(); ++s) {
    if (objective == Objective::sets) {
      costs.push_back(1);
    } else if (objective == Objective::traffic) {
      costs.push_back(traffic_of(problem, candidates.sets[s]));
    } else {
      const double energy = objective == Objective::energy ? 1 : 0;
      costs.push_back(cost_of(problem, prices, s, energy, 1 - energy));
    }
  }
  Chosen result;
  result.covers.push_back(cover(problem, candidates, costs, options));
  result.proven = result.covers.front().proven;
  result.bound = result.covers.front().bound;
  return result;
}

}  // namespace monet::fusion
