// States of the exact search, and what they must still cost. For exact.cpp only.
#pragma once

#include "remat/prices.h"
#include "remat/repair.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

namespace monet::remat {

template <std::size_t Words>
class NodeSet {
 public:
  void add(NodeIndex node) { words_[node / 64] |= bit(node); }
  void remove(NodeIndex node) { words_[node / 64] &= ~bit(node); }
  bool has(NodeIndex node) const { return (words_[node / 64] & bit(node)) != 0; }
  bool empty() const { return *this == NodeSet(); }
  bool within(const NodeSet& other) const { return without(other).empty(); }
  NodeSet without(const NodeSet& other) const {
    NodeSet result;
    for (std::size_t i = 0; i < Words; ++i) result.words_[i] = words_[i] & ~other.words_[i];
    return result;
  }
  void unite(const NodeSet& other) {
    for (std::size_t i = 0; i < Words; ++i) words_[i] |= other.words_[i];
  }
  bool operator==(const NodeSet&) const = default;

  template <class Action>
  void for_each(const Action& action) const {
    for (std::size_t i = 0; i < Words; ++i)
      for (std::uint64_t left = words_[i]; left != 0; left &= left - 1)
        action(static_cast<NodeIndex>(64 * i + static_cast<std::size_t>(std::countr_zero(left))));
  }
  // From the largest down; what the action adds below is met too.
  template <class Action>
  void for_each_down(const Action& action) {
    for (std::size_t i = Words; i-- > 0;) {
      for (std::uint64_t seen = 0, left = words_[i]; left != 0; left = words_[i] & ~seen) {
        const int top = 63 - std::countl_zero(left);
        seen |= std::uint64_t{1} << top;
        action(static_cast<NodeIndex>(64 * i + static_cast<std::size_t>(top)));
      }
    }
  }
  std::uint64_t hash(std::uint64_t value) const {
    for (const std::uint64_t word : words_) {
      value = (value ^ word) * 0x9e3779b97f4a7c15ULL;
      value ^= value >> 29;
    }
    return value;
  }

 private:
  static constexpr std::uint64_t bit(NodeIndex node) { return std::uint64_t{1} << (node % 64); }
  std::array<std::uint64_t, Words> words_{};
};

template <std::size_t Words>
struct ExactState {
  NodeIndex next = 0;     // first run that comes next
  NodeSet<Words> here;    // in memory
  NodeSet<Words> stored;  // with a copy in storage

  bool operator==(const ExactState&) const = default;
  std::size_t hash() const { return stored.hash(here.hash(next + 1)); }
};

template <std::size_t Words>
class ExactEstimate {
 public:
  using State = ExactState<Words>;
  using Nodes = NodeSet<Words>;

  ExactEstimate(const Problem& problem, const Prices& prices, std::int64_t budget, const Moves& moves)
      : problem_(problem),
        prices_(prices),
        budget_(budget),
        recompute_(moves.recompute),
        pages_(moves.page && problem.channel.has_value()),
        operands_(problem.size()),
        needed_(problem.size() + 1),
        first_runs_(problem.size() + 1, 0) {
    for (NodeIndex node = 0; node < problem.size(); ++node) {
      for (const NodeIndex operand : problem.operands.of(node)) operands_[node].add(operand);
      const auto users = problem.users.of(node);
      for (NodeIndex next = node + 1; !users.empty() && next <= users.back(); ++next) needed_[next].add(node);
    }
    for (std::size_t node = problem.size(); node-- > 0;)
      first_runs_[node] = first_runs_[node + 1] + prices.compute[node];
    for (NodeIndex row = 0; row < problem.size(); ++row) add_tight_row(row);
  }

  bool pages() const { return pages_; }
  bool recomputable(NodeIndex node) const { return recompute_ && problem_.nodes[node].recomputable; }
  const Nodes& operands(NodeIndex node) const { return operands_[node]; }
  double price(Run run) const { return prices_.of(run); }
  double page_out(NodeIndex node) const { return prices_.page_out[node]; }

  std::int64_t bytes(const Nodes& nodes) const {
    std::int64_t sum = problem_.fixed_bytes;
    nodes.for_each([&](NodeIndex node) { sum += problem_.nodes[node].bytes; });
    return sum;
  }

  // What has been made, is not in memory, and will be needed: by first runs, or to have that back.
  Nodes missing(const State& state) const {
    Nodes missing = needed_[state.next].without(state.here);
    missing.for_each_down([&](NodeIndex node) {
      if (!state.stored.has(node)) missing.unite(operands_[node].without(state.here));
    });
    return missing;
  }

  // Infinite where it is `most` or more.
  double at_least(const State& state, double most) const {
    const Nodes back = missing(state);
    double sum = first_runs_[state.next];
    back.for_each([&](NodeIndex node) { sum += price_to_have_back(node, state.stored.has(node)); });
    if (sum >= most) return infinite;
    double dearest = 0;
    for (const Tight& row : tight_)
      if (row.row >= state.next) dearest = std::max(dearest, price_of_room(row, state, back));
    return sum + dearest;
  }

  // Takes out of memory what cannot be of use at a price below `most`.
  void forget_useless(State& state, double most) const {
    const double extra = most - first_runs_[state.next];
    Nodes useful = needed_[state.next];
    useful.for_each_down([&](NodeIndex node) {
      if (recomputable(node) && prices_.compute[node] < extra) useful.unite(operands_[node]);
    });
    state.here = state.here.without(state.here.without(useful));
  }

 private:
  static constexpr double infinite = std::numeric_limits<double>::infinity();

  // A row at which not everything that is needed later can be in memory.
  struct Tight {
    NodeIndex row;
    std::int64_t lacking;
    std::vector<NodeIndex> others;  // that may be elsewhere, the cheapest for a byte first
  };

  double price_to_have_back(NodeIndex node, bool stored) const {
    double price = recomputable(node) ? prices_.compute[node] : infinite;
    if (stored) price = std::min(price, prices_.page_in[node]);
    return price;
  }

  double price_to_drop(NodeIndex node, bool stored) const {
    double price = recomputable(node) ? prices_.compute[node] : infinite;
    if (pages_) price = std::min(price, prices_.page_in[node] + (stored ? 0 : prices_.page_out[node]));
    return price;
  }

  void add_tight_row(NodeIndex row) {
    Tight tight{.row = row, .lacking = problem_.fixed_bytes + problem_.nodes[row].bytes - budget_, .others = {}};
    operands_[row].for_each([&](NodeIndex node) { tight.lacking += problem_.nodes[node].bytes; });
    needed_[row + 1].for_each([&](NodeIndex node) {
      if (node == row || operands_[row].has(node)) return;
      tight.lacking += problem_.nodes[node].bytes;
      if (problem_.nodes[node].bytes > 0) tight.others.push_back(node);
    });
    if (tight.lacking <= 0) return;
    std::ranges::stable_sort(tight.others, {}, [&](NodeIndex node) { return density(node, false); });
    tight_.push_back(std::move(tight));
  }

  double density(NodeIndex node, bool stored) const {
    return price_to_drop(node, stored) / static_cast<double>(problem_.nodes[node].bytes);
  }

  // What is missing now may stay so until after the row. Fractions count.
  double price_of_room(const Tight& tight, const State& state, const Nodes& back) const {
    std::int64_t lacking = tight.lacking;
    for (const NodeIndex node : tight.others)
      if (back.has(node)) lacking -= problem_.nodes[node].bytes;
    if (lacking <= 0) return 0;
    double price = 0;
    const auto take = [&](NodeIndex node, bool stored) {
      const std::int64_t bytes = std::min(lacking, problem_.nodes[node].bytes);
      lacking -= bytes;
      price += static_cast<double>(bytes) * density(node, stored);
      return lacking <= 0;
    };
    // Those with a copy in storage are cheaper than their place in the list says; here they are free.
    if (pages_)
      for (const NodeIndex node : tight.others)
        if (!back.has(node) && state.stored.has(node)) lacking -= problem_.nodes[node].bytes;
    if (lacking <= 0) return 0;
    for (const NodeIndex node : tight.others)
      if (!back.has(node) && !(pages_ && state.stored.has(node)) && take(node, false)) return price;
    return infinite;
  }

  const Problem& problem_;
  const Prices& prices_;
  std::int64_t budget_;
  bool recompute_, pages_;
  std::vector<Nodes> operands_;  // by node
  std::vector<Nodes> needed_;    // by next first run: of those before, what it or a later one reads
  std::vector<double> first_runs_;
  std::vector<Tight> tight_;
};

}  // namespace monet::remat
