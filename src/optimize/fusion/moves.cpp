#include "optimize/fusion/moves.h"

#include "optimize/fusion/rings.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace monet::fusion {

namespace {

class Moving {
 public:
  Moving(const Step& step, const SetTable& table, const Stacks& stacks, Objective objective)
      : step_(step), table_(table), stacks_(stacks), objective_(objective), stack_of_(step.problem.size()) {
    for (std::uint32_t i = 0; i < stacks.size(); ++i) {
      for (Index op : sets()[stacks[i].set]) stack_of_[op] = i;
    }
  }

  std::vector<Move> run(bool change_sets) {
    for (const Stack& stack : stacks_) {
      change_tiles(stack);
      if (change_sets) split(stack);
    }
    if (change_sets) {
      for (const auto& [a, b] : neighbours()) {
        merge(a, b);
        pass_on(a, b);
        pass_on(b, a);
      }
    }
    std::vector<std::pair<double, Move>> ranked;
    for (auto& [key, move] : by_content_) {
      double weight = 0;
      for (const Stack& stack : move.out) weight += predicted(stack);
      ranked.emplace_back(-weight, std::move(move));
    }
    std::ranges::stable_sort(ranked, {}, [](const auto& each) { return each.first; });
    std::vector<Move> moves;
    for (auto& each : ranked) moves.push_back(std::move(each.second));
    return moves;
  }

 private:
  using Key = std::vector<std::uint32_t>;  // kind of move, then contents and ways

  const Lists<Index>& sets() const { return step_.candidates.sets; }
  std::uint32_t content(std::uint32_t set) const { return step_.prices.class_of[set]; }
  double predicted(const Stack& stack) const {
    const auto& ways = step_.prices.of(stack.set).ways;
    if (ways.empty()) return 0;
    return value_of(ways[stack.way == no_way ? 0 : stack.way].cost, objective_);
  }

  // Joins the move of the same content; stacks that it already takes away stay where they are.
  void add(std::uint32_t kind, const Stacks& out, const Stacks& in) {
    Key key{kind};
    for (const Stack& stack : out) key.insert(key.end(), {content(stack.set), stack.way});
    for (const Stack& stack : in) key.insert(key.end(), {content(stack.set), stack.way, position(stack, out)});
    Move& move = by_content_[key];
    std::set<std::uint32_t>& taken = taken_[key];
    if (std::ranges::any_of(out, [&](const Stack& stack) { return taken.contains(stack.set); })) return;
    for (const Stack& stack : out) taken.insert(stack.set);
    move.out.insert(move.out.end(), out.begin(), out.end());
    move.in.insert(move.in.end(), in.begin(), in.end());
  }

  // Which operators of the first stack that goes are in it: tells parts of equal content apart.
  std::uint32_t position(const Stack& stack, const Stacks& out) const {
    std::uint32_t bits = 0;
    const auto whole = sets()[out.front().set];
    for (std::size_t i = 0; i < whole.size(); ++i) {
      if (std::ranges::binary_search(sets()[stack.set], whole[i])) bits |= 1U << i;
    }
    return bits;
  }

  void change_tiles(const Stack& stack) {
    const auto count = static_cast<std::uint32_t>(step_.prices.of(stack.set).ways.size());
    for (std::uint32_t way = 0; way < count; ++way) {
      if (way != stack.way) add(0, {stack}, {{stack.set, way}});
    }
    if (stack.way != no_way) add(0, {stack}, {{stack.set, no_way}});
  }

  void split(const Stack& stack) {
    const auto set = sets()[stack.set];
    if (set.size() == 1) return;
    Stacks single;
    for (Index op : set) single.push_back({op, 0});
    add(1, {stack}, single);
    for (Stack& each : single) each.way = no_way;
    add(1, {stack}, single);
    if (set.size() > 8) return;
    std::vector<Index> first, second;
    for (std::uint32_t mask = 1; mask + 1 < (1U << set.size()); mask += 2) {
      first.clear();
      second.clear();
      for (std::size_t i = 0; i < set.size(); ++i) (((mask >> i) & 1U) != 0 ? first : second).push_back(set[i]);
      const std::uint32_t a = table_.find(first), b = table_.find(second);
      if (a != SetTable::none && b != SetTable::none) add(1, {stack}, {{a, 0}, {b, 0}});
    }
  }

  std::set<std::pair<std::uint32_t, std::uint32_t>> neighbours() const {
    std::set<std::pair<std::uint32_t, std::uint32_t>> pairs;
    for (Index op = 0; op < step_.problem.size(); ++op) {
      for (Index other : step_.problem.beside[op]) {
        if (stack_of_[op] < stack_of_[other]) pairs.emplace(stack_of_[op], stack_of_[other]);
      }
    }
    return pairs;
  }

  void merge(std::uint32_t a, std::uint32_t b) {
    const auto first = sets()[stacks_[a].set], second = sets()[stacks_[b].set];
    std::vector<Index> both;
    std::ranges::merge(first, second, std::back_inserter(both));
    const std::uint32_t set = table_.find(both);
    if (set != SetTable::none) add(2, {stacks_[a], stacks_[b]}, {{set, 0}});
  }

  // One operator goes over; a stack of one is merged instead.
  void pass_on(std::uint32_t a, std::uint32_t b) {
    const auto from = sets()[stacks_[a].set], to = sets()[stacks_[b].set];
    if (from.size() == 1) return;
    for (Index op : from) {
      std::vector<Index> less, more;
      std::ranges::copy_if(from, std::back_inserter(less), [&](Index other) { return other != op; });
      std::ranges::merge(to, std::span(&op, 1), std::back_inserter(more));
      const std::uint32_t left = table_.find(less), right = table_.find(more);
      if (left != SetTable::none && right != SetTable::none) add(3, {stacks_[a], stacks_[b]}, {{left, 0}, {right, 0}});
    }
  }

  const Step& step_;
  const SetTable& table_;
  const Stacks& stacks_;
  Objective objective_;
  std::vector<std::uint32_t> stack_of_;  // by operator
  std::map<Key, Move> by_content_;
  std::map<Key, std::set<std::uint32_t>> taken_;
};

}  // namespace

std::vector<Move> moves_of(const Step& step, const SetTable& table, const Stacks& stacks, Objective objective,
                           bool sets) {
  return Moving(step, table, stacks, objective).run(sets);
}

std::optional<Stacks> moved(const Step& step, const Stacks& stacks, const Move& move) {
  std::set<std::uint32_t> gone;
  for (const Stack& stack : move.out) gone.insert(stack.set);
  Stacks result = move.in;
  for (const Stack& stack : stacks) {
    if (gone.contains(stack.set)) {
      gone.erase(stack.set);
    } else {
      result.push_back(stack);
    }
  }
  if (!gone.empty()) return std::nullopt;
  const Lists<Index>& sets = step.candidates.sets;
  std::ranges::sort(result, {}, [&](const Stack& stack) { return sets[stack.set][0]; });
  std::vector<std::uint32_t> set_of(step.problem.size());
  for (std::uint32_t i = 0; i < result.size(); ++i) {
    if (step.prices.of(result[i].set).ways.empty()) return std::nullopt;
    for (Index op : sets[result[i].set]) set_of[op] = i;
  }
  if (!rings_among(step.problem, set_of, result.size()).empty()) return std::nullopt;
  return result;
}

}  // namespace monet::fusion
