#include "pipeline/stages.h"

#include <algorithm>
#include <limits>

namespace monet {

namespace {

constexpr double never = std::numeric_limits<double>::infinity();

class Cuts {
 public:
  Cuts(std::span<const double> costs, std::size_t stages,
       const std::function<bool(std::size_t, std::size_t, std::size_t)>& fits)
      : stages_(stages), blocks_(costs.size()), fits_(fits), sums_(costs.size() + 1) {
    for (std::size_t b = 0; b < blocks_; ++b) sums_[b + 1] = sums_[b] + costs[b];
  }

  // The least of all cuts whose stages cost `most` at most, prices of stages joined by `join`; none: `never`.
  template <class Price, class Join>
  double solve(double most, Price price, Join join) {
    best_.assign(stages_ + 1, std::vector<double>(blocks_ + 1, never));
    count_.assign(stages_ + 1, std::vector<std::size_t>(blocks_ + 1));
    best_[0][0] = 0;
    for (std::size_t s = 1; s <= stages_; ++s) {
      for (std::size_t b = s; b + (stages_ - s) <= blocks_; ++b) {
        for (std::size_t count = 1; count <= b - (s - 1); ++count) {
          const double cost = sums_[b] - sums_[b - count];
          if (cost > most || (fits_ && !fits_(b - count, count, s - 1))) break;
          const double all = join(best_[s - 1][b - count], price(cost));
          if (all >= best_[s][b]) continue;
          best_[s][b] = all;
          count_[s][b] = count;
        }
      }
    }
    return best_[stages_][blocks_];
  }

  std::vector<std::size_t> counts() const {
    std::vector<std::size_t> counts(stages_);
    for (std::size_t s = stages_, b = blocks_; s > 0; --s) b -= counts[s - 1] = count_[s][b];
    return counts;
  }

 private:
  std::size_t stages_, blocks_;
  const std::function<bool(std::size_t, std::size_t, std::size_t)>& fits_;
  std::vector<double> sums_;
  std::vector<std::vector<double>> best_;        // by stages and blocks so far
  std::vector<std::vector<std::size_t>> count_;  // blocks of the last of these stages
};

}  // namespace

std::vector<std::size_t> balanced_stages(std::span<const double> costs, std::size_t stages,
                                         const std::function<bool(std::size_t, std::size_t, std::size_t)>& fits) {
  if (stages == 0 || costs.size() < stages) return {};
  Cuts cuts(costs, stages, fits);
  const double slowest =
      cuts.solve(never, [](double cost) { return cost; }, [](double a, double b) { return std::max(a, b); });
  if (slowest == never) return {};
  cuts.solve(slowest, [](double cost) { return cost * cost; }, [](double a, double b) { return a + b; });
  return cuts.counts();
}

}  // namespace monet
