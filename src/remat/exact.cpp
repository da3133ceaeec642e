#include "remat/exact.h"

#include "base/require.h"
#include "remat/exact_state.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <queue>
#include <unordered_map>

namespace monet::remat {

namespace {

// The largest number of which all prices are multiples, if they are whole; else 0. Totals then differ by as much.
double price_step(const Prices& prices) {
  std::int64_t step = 0;
  const auto take = [&](const std::vector<double>& list) {
    for (const double price : list) {
      if (price != std::floor(price) || price > 0x1p50) return false;
      step = std::gcd(step, static_cast<std::int64_t>(price));
    }
    return true;
  };
  return take(prices.compute) && take(prices.page_in) && take(prices.page_out) ? static_cast<double>(step) : 0;
}

template <std::size_t Words>
class ExactSearch {
 public:
  using State = ExactState<Words>;
  using Nodes = NodeSet<Words>;

  ExactSearch(const Problem& problem, const Prices& prices, std::int64_t budget, const ExactOptions& options)
      : problem_(problem), options_(options), estimate_(problem, prices, budget, options.moves), budget_(budget) {
    // Sums of doubles are a little wrong.
    constexpr double rounding = 1e-12;
    const double step = price_step(prices);
    limit_ = step > 0 ? options.below - step / 2 : options.below * (1 - rounding);
  }

  ExactResult run() {
    State root;
    push(root, 0, none, Run());
    while (!queue_.empty()) {
      const Entry top = queue_.top();
      if (given_up() || options_.stop()) return outcome(top.bound, false);
      queue_.pop();
      const Record record = records_[top.record];
      if (record.price < top.price) continue;  // reached more cheaply since
      const State state = record.state;
      if (state.next == problem_.size()) {
        ExactResult result = outcome(top.bound, true);
        result.sequence = sequence_to(top.record);
        return result;
      }
      expand(state, top.record, record.price);
      if (given_up()) return outcome(top.bound, false);
    }
    return outcome(options_.below, true);
  }

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  struct Record {
    State state;
    double price;
    std::uint32_t parent;
    Run run;
  };
  struct Entry {
    double bound, price;
    std::uint32_t record;
    NodeIndex next;

    // The top of the queue: least bound, then furthest, then oldest.
    bool operator<(const Entry& other) const {
      if (bound != other.bound) return bound > other.bound;
      if (next != other.next) return next < other.next;
      return record > other.record;
    }
  };
  struct Hash {
    std::size_t operator()(const State& state) const { return state.hash(); }
  };

  // Ways to make room are work even where they lead to no new state.
  bool given_up() const {
    constexpr std::size_t ways_a_state = 20;
    return states_.size() >= options_.most_states || ways_ >= ways_a_state * options_.most_states;
  }

  ExactResult outcome(double bound, bool complete) const {
    return {.bound = std::min(bound, options_.below), .complete = complete, .sequence = {}, .states = states_.size()};
  }

  Sequence sequence_to(std::uint32_t record) const {
    Sequence sequence;
    for (; records_[record].parent != none; record = records_[record].parent) sequence.push_back(records_[record].run);
    std::ranges::reverse(sequence);
    return sequence;
  }

  void push(State state, double price, std::uint32_t parent, Run run) {
    const double bound = price + estimate_.at_least(state, limit_ - price);
    if (bound >= limit_) return;
    const auto [found, fresh] = states_.try_emplace(state, static_cast<std::uint32_t>(records_.size()));
    if (fresh) {
      records_.push_back({state, price, parent, run});
    } else {
      Record& record = records_[found->second];
      if (record.price <= price) return;
      record = {state, price, parent, run};
    }
    queue_.push({bound, price, found->second, state.next});
  }

  void expand(const State& state, std::uint32_t record, double price) {
    const Nodes missing = estimate_.missing(state);
    if (estimate_.operands(state.next).within(state.here)) advance(state, Run(state.next), record, price);
    missing.for_each([&](NodeIndex node) {
      if (state.stored.has(node)) advance(state, Run(node, true), record, price);
      if (estimate_.recomputable(node) && estimate_.operands(node).within(state.here))
        advance(state, Run(node), record, price);
    });
  }

  // The run, after room has been made for it in every way that leaves nothing out that need not go.
  void advance(const State& state, Run run, std::uint32_t record, double price) {
    const NodeIndex node = run.node();
    const std::int64_t lacking = estimate_.bytes(state.here) + problem_.nodes[node].bytes - budget_;
    leaving_.clear();
    leaving_bytes_.clear();
    if (lacking > 0) {
      const Nodes needed = run.paged() ? Nodes() : estimate_.operands(node);
      state.here.for_each([&](NodeIndex other) {
        if (!needed.has(other) && problem_.nodes[other].bytes > 0) leaving_.push_back(other);
      });
      std::ranges::stable_sort(leaving_, std::greater(), [&](NodeIndex other) { return problem_.nodes[other].bytes; });
      leaving_bytes_.assign(leaving_.size() + 1, 0);
      for (std::size_t i = leaving_.size(); i-- > 0;)
        leaving_bytes_[i] = leaving_bytes_[i + 1] + problem_.nodes[leaving_[i]].bytes;
    }
    leave(state, 0, lacking, run, record, price);
  }

  // The largest leave first, so that the last one was not spare, and neither were the others.
  void leave(const State& state, std::size_t from, std::int64_t lacking, Run run, std::uint32_t record, double price) {
    if (lacking <= 0) {
      State next = state;
      const NodeIndex node = run.node();
      next.here.add(node);
      if (node == state.next) ++next.next;
      estimate_.forget_useless(next, limit_ - price);
      push(next, price + estimate_.price(run), record, run);
      return;
    }
    if (given_up()) return;
    ++ways_;
    for (std::size_t i = from; i < leaving_.size() && leaving_bytes_[i] >= lacking; ++i) {
      const NodeIndex out = leaving_[i];
      const std::int64_t bytes = problem_.nodes[out].bytes;
      State next = state;
      next.here.remove(out);
      const auto try_it = [&](double paid) {
        if (paid + estimate_.at_least(next, limit_ - paid) < limit_)
          leave(next, i + 1, lacking - bytes, run, record, paid);
      };
      try_it(price);
      if (estimate_.pages() && !next.stored.has(out)) {
        next.stored.add(out);
        try_it(price + estimate_.page_out(out));
      }
    }
  }

  const Problem& problem_;
  const ExactOptions& options_;
  ExactEstimate<Words> estimate_;
  std::int64_t budget_;
  double limit_ = 0;
  std::size_t ways_ = 0;
  std::unordered_map<State, std::uint32_t, Hash> states_;
  std::vector<Record> records_;
  std::priority_queue<Entry> queue_;
  std::vector<NodeIndex> leaving_;           // that may make room for a run, the largest first
  std::vector<std::int64_t> leaving_bytes_;  // of one and all after it
};

template <std::size_t Words>
ExactResult solve_with(const Problem& problem, const Prices& prices, std::int64_t budget, const ExactOptions& options) {
  return ExactSearch<Words>(problem, prices, budget, options).run();
}

}  // namespace

ExactResult solve_exactly(const Problem& problem, const Prices& prices, std::int64_t budget,
                          const ExactOptions& options) {
  MONET_REQUIRE(problem.size() <= exact_most_nodes);
  if (problem.size() <= 64) return solve_with<1>(problem, prices, budget, options);
  if (problem.size() <= 128) return solve_with<2>(problem, prices, budget, options);
  return solve_with<exact_most_nodes / 64>(problem, prices, budget, options);
}

}  // namespace monet::remat
