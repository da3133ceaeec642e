#include "plan_mutator.h"

#include <algorithm>
#include <array>
#include <utility>

namespace monet::fuzz {

namespace {

constexpr std::array<std::int64_t, 12> sizes = {1, 2, 3, 4, 7, 8, 16, 64, 1000, 1 << 20, std::int64_t{1} << 40, 0};

class PlanChange {
 public:
  PlanChange(Plan& plan, const Graph& graph, const Hardware& hardware, SeededRandom& random)
      : plan_(plan), graph_(graph), hardware_(hardware), random_(random) {}

  void run() {
    switch (random_.below(8)) {
      case 0: plan_.order = static_cast<PlanOrder>(random_.below(4)); break;
      case 1: plan_.transfers = static_cast<PlanTransfers>(random_.below(2)); break;
      case 2: change_expanded(); break;
      case 3:
      case 4: change_stacks(); break;
      case 5:
      case 6: change_operators(); break;
      default: change_tensors();
    }
  }

 private:
  template <class T>
  const T& any(const std::vector<T>& list) {
    return list[random_.below(list.size())];
  }

  std::string operator_name() { return any(graph_.nodes()).name; }
  // Some of it replaced, as users do for many at once.
  std::string pattern(std::string name) {
    const std::size_t from = random_.below(name.size() + 1);
    const std::size_t length = random_.below(name.size() - from + 1);
    return random_.below(3) != 0 ? name : name.replace(from, length, length == 1 ? "?" : "*");
  }
  std::string core_name() { return pattern(any(hardware_.cores).name); }
  std::string memory_name() { return any(hardware_.memories).name; }

  void change_sizes(std::vector<LoopSize>& loops) {
    if (!loops.empty() && random_.below(3) == 0) {
      loops.erase(loops.begin() + static_cast<std::ptrdiff_t>(random_.below(loops.size())));
    } else if (!loops.empty() && random_.below(2) == 0) {
      loops[random_.below(loops.size())].size = sizes[random_.below(sizes.size())];
    } else {
      loops.push_back({static_cast<Dim>(random_.below(17)), sizes[random_.below(sizes.size())]});
    }
  }

  // Removes, doubles or swaps; false: it is for the caller to add or to change one.
  template <class T>
  bool rearrange(std::vector<T>& list) {
    if (list.empty()) return false;
    const std::size_t one = random_.below(list.size()), other = random_.below(list.size());
    switch (random_.below(6)) {
      case 0: list.erase(list.begin() + static_cast<std::ptrdiff_t>(one)); return true;
      case 1: list.insert(list.begin() + static_cast<std::ptrdiff_t>(other), T(list[one])); return true;
      case 2: std::swap(list[one], list[other]); return true;
      default: return false;
    }
  }

  void change_expanded() {
    if (!rearrange(plan_.expanded)) plan_.expanded.push_back(pattern(operator_name()));
  }

  // Neighbours in the graph's order, which may often be one stack.
  PlannedStack new_stack() {
    PlannedStack stack;
    std::size_t at = random_.below(graph_.nodes().size());
    for (std::size_t left = 1 + random_.below(6); left > 0 && at < graph_.nodes().size(); --left, ++at)
      stack.operators.push_back(graph_.nodes()[at].name);
    return stack;
  }

  void change_stacks() {
    if (rearrange(plan_.stacks)) return;
    if (plan_.stacks.empty() || random_.below(2) == 0) return plan_.stacks.push_back(new_stack());
    PlannedStack& stack = plan_.stacks[random_.below(plan_.stacks.size())];
    if (random_.below(2) == 0) return change_sizes(stack.tile);
    if (random_.below(8) == 0) stack.name = operator_name();
    if (!rearrange(stack.operators)) stack.operators.push_back(operator_name());
  }

  void change_operators() {
    if (rearrange(plan_.operators)) return;
    if (plan_.operators.empty() || random_.below(2) == 0) {
      plan_.operators.emplace_back().name = pattern(operator_name());
      plan_.operators.back().priority = static_cast<double>(random_.below(9)) - 4;
      return;
    }
    PlannedOperator& one = plan_.operators[random_.below(plan_.operators.size())];
    switch (random_.below(5)) {
      case 0: return change_sizes(one.tile);
      case 1: return change_sizes(one.split);
      case 2: one.name = pattern(operator_name()); return;
      case 3: one.priority = static_cast<double>(random_.next()) / 1e10; return;
      default:
        if (!rearrange(one.cores)) one.cores.push_back(core_name());
    }
  }

  void change_tensors() {
    if (rearrange(plan_.tensors)) return;
    if (plan_.tensors.empty() || random_.below(2) == 0)
      plan_.tensors.emplace_back().name = pattern(any(graph_.tensors()).name);
    PlannedTensor& one = plan_.tensors[random_.below(plan_.tensors.size())];
    one.retention = static_cast<Retention>(random_.below(3));
    const bool somewhere =
        one.retention == Retention::page || (one.retention == Retention::keep && random_.below(2) == 0);
    one.memory = somewhere ? memory_name() : "";
  }

  Plan& plan_;
  const Graph& graph_;
  const Hardware& hardware_;
  SeededRandom& random_;
};

}  // namespace

void change(Plan& plan, const Graph& graph, const Hardware& hardware, SeededRandom& random) {
  PlanChange(plan, graph, hardware, random).run();
}

}  // namespace monet::fuzz
