#include "mapping/refine.h"

#include "base/checked.h"

#include <algorithm>
#include <set>

namespace monet {

namespace {

// Sizes worth trying for the inner of two pieces of n iterations: each gives another number of outer iterations.
std::vector<std::int64_t> inner_sizes(std::int64_t n) {
  std::set<std::int64_t> sizes;
  for (std::int64_t outer = 1; outer <= std::min<std::int64_t>(n, 16); ++outer) {
    sizes.insert(ceil_divide(n, outer));
    sizes.insert(outer);
  }
  for (std::int64_t power = 1; power < n; power *= 2) sizes.insert(power);
  return {sizes.begin(), sizes.end()};
}

class Refiner {
 public:
  Refiner(const Frame& frame, const SearchOptions& options, OrderBuilder& builder, Score& best, Cuts& cuts)
      : frame_(frame), options_(options), builder_(builder), best_(best), cuts_(cuts) {}

  // True: a neighbour of the order is better; it becomes the order.
  bool step(std::vector<Factor>& order) {
    std::vector<Factor> better;
    const auto loops = static_cast<std::uint8_t>(frame_.loops);
    for (std::uint8_t loop = 0; loop < loops; ++loop) {
      const std::int64_t all = frame_.unrolling->iterations[loop];
      if (all <= 1) continue;
      for (std::size_t inner = 0; inner < order.size(); ++inner) {
        for (const std::vector<Factor>& other : neighbours(order, loop, inner, all)) {
          if (attempt(other)) better = other;
        }
      }
    }
    if (better.empty()) return false;
    order = std::move(better);
    return true;
  }

 private:
  // The loop has one more, or another, piece just below position `at`; its outermost piece takes the rest.
  std::vector<std::vector<Factor>> neighbours(const std::vector<Factor>& order, std::uint8_t loop, std::size_t at,
                                              std::int64_t all) const {
    std::size_t outermost = order.size();
    std::int64_t below = 1;
    for (std::size_t i = order.size(); i-- > 0;) {
      if (order[i].loop == loop) {
        outermost = i;
        break;
      }
    }
    if (outermost == order.size() || at > outermost) return {};
    for (std::size_t i = 0; i < at; ++i) {
      if (order[i].loop == loop) below *= order[i].size;
    }
    std::vector<std::vector<Factor>> result;
    for (std::int64_t size : inner_sizes(ceil_divide(all, below))) {
      if (size <= 1) continue;
      // Pieces of the loop between stay as they are if they fit, and the outermost is what is left.
      std::vector<Factor> other(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(at));
      std::int64_t covered = below * size;
      other.push_back({loop, size});
      for (std::size_t i = at; i < order.size(); ++i) {
        if (order[i].loop != loop) {
          other.push_back(order[i]);
        } else if (i == outermost) {
          if (covered < all) other.push_back({loop, ceil_divide(all, covered)});
        } else if (i > at && covered * order[i].size < all) {
          other.push_back(order[i]);
          covered *= order[i].size;
        }
      }
      if (other.size() <= max_factors && other != order) result.push_back(std::move(other));
    }
    return result;
  }

  bool attempt(const std::vector<Factor>& order) {
    const auto is_hopeless = [&] {
      const double cycles = builder_.least_cycles();
      const double energy = builder_.least_energy() + static_pj(frame_, cycles);
      return !effort_.is_worth(score_of(options_.objective, cycles, energy), best_);
    };
    if (!builder_.build(order, is_hopeless)) return false;
    builder_.finish();
    Score score = best_;
    Cuts cuts = cuts_;
    bool better =
        search_.run(frame_, builder_.cuts(), options_.objective, options_.constraints.held, effort_, score, cuts);
    builder_.unfinish();
    // A climb ends on another hill when the machine changes. Where cycles are asked for, they stay those of the search
    // that looks at everything, so that a better machine is never slower.
    const bool faster = options_.objective == Objective::latency && score.first < best_.first * (1 - 1e-12);
    if (faster && !options_.climb) better = false;
    if (!better) return false;
    best_ = score;
    cuts_ = cuts;
    return true;
  }

  const Frame& frame_;
  const SearchOptions& options_;
  OrderBuilder& builder_;
  Score& best_;
  Cuts& cuts_;
  CutSearch search_;
  SearchEffort effort_;
};

}  // namespace

void refine(const Frame& frame, const SearchOptions& options, OrderBuilder& builder, Score& best,
            std::vector<Factor>& order, Cuts& cuts) {
  // Where every operand crosses every link once there is nothing to save.
  builder.build({});
  const double least = builder.least_energy() + static_pj(frame, builder.least_cycles());
  const double energy = options.objective == Objective::energy ? best.first : best.second;
  if (options.objective != Objective::edp && !options.climb && energy <= least * (1 + 1e-9)) return;
  Refiner refiner(frame, options, builder, best, cuts);
  for (int round = 0; round < 16 && refiner.step(order); ++round) continue;
}

}  // namespace monet
