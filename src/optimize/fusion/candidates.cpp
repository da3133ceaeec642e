#include "optimize/fusion/candidates.h"

#include <algorithm>
#include <array>

namespace monet::fusion {

namespace {

// Counts of a set that only grow with it.
struct SetCounts {
  std::array<std::size_t, 4> kinds{};
};

class Growing {
 public:
  Growing(const Problem& problem, const Rules& rules, const Reachability& reach, const CandidateOptions& options)
      : problem_(problem),
        rules_(rules),
        reach_(reach),
        options_(options),
        inside_(problem.size(), 0),
        near_(problem.size(), 0),
        weights_(problem.capacities.size(), 0) {}

  Candidates run() {
    for (Index i = 0; i < problem_.size(); ++i) result_.sets.add(std::span(&i, 1));
    for (Index i = 0; i < problem_.size() && result_.sets.size() < options_.total; ++i) {
      if (options_.stop && options_.stop()) {
        result_.complete = false;
        break;
      }
      found_ = tried_ = 0;
      grow_from(i);
    }
    if (result_.sets.size() >= options_.total) result_.complete = false;
    return std::move(result_);
  }

 private:
  // Every connected set once (Wernicke's ESU): those whose first operator is `root`; an operator that was passed over
  // does not come back.
  void grow_from(Index root) {
    if (!may_add(root)) return;
    add(root);
    std::vector<Index> open;
    near_[root] = 1;
    reach_out(root, root, open);
    grow(root, open);
    near_[root] = 0;
    for (Index each : open) near_[each] = 0;
    remove();
  }

  // Neighbours that were none of the set before come to the list.
  void reach_out(Index root, Index from, std::vector<Index>& open) {
    for (Index other : problem_.beside[from]) {
      if (other <= root || near_[other] != 0) continue;
      near_[other] = 1;
      open.push_back(other);
    }
  }

  bool is_full() const {
    constexpr std::size_t tries_per_set = 16;
    return found_ >= options_.per_operator || tried_ >= tries_per_set * options_.per_operator ||
           result_.sets.size() >= options_.total;
  }

  void grow(Index root, const std::vector<Index>& open) {
    if (set_.size() >= 2 && leaves() <= rules_.leaving && convex()) keep();
    if (set_.size() >= rules_.limit) return;
    for (std::size_t i = 0; i < open.size(); ++i) {
      if (is_full()) {
        result_.complete = false;
        return;
      }
      ++tried_;
      const Index next = open[i];
      if (!may_add(next)) continue;
      add(next);
      if (still_to_come() <= rules_.limit - set_.size()) {
        std::vector<Index> further(open.begin() + static_cast<std::ptrdiff_t>(i) + 1, open.end());
        const std::size_t known = further.size();
        reach_out(root, next, further);
        grow(root, further);
        for (std::size_t k = known; k < further.size(); ++k) near_[further[k]] = 0;
      }
      remove();
    }
  }

  bool may_add(Index op) const {
    SetCounts now = counts_;
    ++now.kinds[static_cast<std::size_t>(problem_.kinds[op])];
    const auto [convolutions, transposed, products, others] = now.kinds;
    if (convolutions > rules_.convolutions || transposed > rules_.transposed || products > rules_.products)
      return false;
    if (products > 0 && convolutions + transposed > rules_.convolutions_with_product) return false;
    if (rules_.divisible_tilings) {
      const std::int64_t own = problem_.tilings[op];
      for (Index other : set_) {
        const std::int64_t theirs = problem_.tilings[other];
        if (own % theirs != 0 && theirs % own != 0) return false;
      }
    }
    for (std::size_t kind = 0; rules_.weights_fit && kind < weights_.size(); ++kind) {
      const std::int64_t capacity = problem_.capacities[kind];
      if (capacity >= 0 && weights_[kind] + problem_.weights[op * weights_.size() + kind] > capacity) return false;
    }
    return true;
  }

  void add(Index op) {
    set_.push_back(op);
    inside_[op] = 1;
    ++counts_.kinds[static_cast<std::size_t>(problem_.kinds[op])];
    for (std::size_t kind = 0; kind < weights_.size(); ++kind)
      weights_[kind] += problem_.weights[op * weights_.size() + kind];
  }

  void remove() {
    const Index op = set_.back();
    set_.pop_back();
    inside_[op] = 0;
    --counts_.kinds[static_cast<std::size_t>(problem_.kinds[op])];
    for (std::size_t kind = 0; kind < weights_.size(); ++kind)
      weights_[kind] -= problem_.weights[op * weights_.size() + kind];
  }

  std::size_t readers_outside(Index op) const {
    return static_cast<std::size_t>(
        std::ranges::count_if(problem_.readers[op], [&](Index reader) { return inside_[reader] == 0; }));
  }

  std::size_t leaves() const {
    return static_cast<std::size_t>(std::ranges::count_if(set_, [&](Index op) { return readers_outside(op) > 0; }));
  }

  // Operators that must join before no more than `leaving` have readers outside: at least all readers of the one that
  // is easiest to satisfy last.
  std::size_t still_to_come() const {
    std::array<std::size_t, max_limit> missing{};
    std::size_t count = 0;
    for (Index op : set_) {
      if (const std::size_t outside = readers_outside(op); outside > 0) missing[count++] = outside;
    }
    if (count <= rules_.leaving) return 0;
    std::sort(missing.begin(), missing.begin() + static_cast<std::ptrdiff_t>(count));
    return missing[count - rules_.leaving - 1];
  }

  bool convex() const {
    for (Index op : set_) {
      for (Index next : problem_.after[op]) {
        if (inside_[next] != 0) continue;
        for (Index other : set_) {
          if (reach_.leads(next, other)) return false;
        }
      }
    }
    return true;
  }

  void keep() {
    sorted_ = set_;
    std::ranges::sort(sorted_);
    result_.sets.add(sorted_);
    ++found_;
  }

  const Problem& problem_;
  const Rules& rules_;
  const Reachability& reach_;
  const CandidateOptions& options_;
  std::vector<std::uint8_t> inside_, near_;  // by operator
  std::vector<std::int64_t> weights_;        // of the set, by kind of core
  SetCounts counts_;
  std::vector<Index> set_, sorted_;
  std::size_t found_ = 0, tried_ = 0;
  Candidates result_;
};

}  // namespace

Reachability::Reachability(const Problem& problem) : words_((problem.size() + 63) / 64) {
  rows_.assign(problem.size() * words_, 0);
  for (std::size_t i = problem.size(); i-- > 0;) {
    std::uint64_t* const row = rows_.data() + i * words_;
    row[i / 64] |= std::uint64_t{1} << (i % 64);
    for (Index next : problem.after[i]) {
      const std::uint64_t* const from = rows_.data() + next * words_;
      for (std::size_t w = next / 64; w < words_; ++w) row[w] |= from[w];
    }
  }
}

Candidates candidates_of(const Problem& problem, const Rules& rules, const Reachability& reach,
                         const CandidateOptions& options) {
  return Growing(problem, rules, reach, options).run();
}

}  // namespace monet::fusion
