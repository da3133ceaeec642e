#include "optimize/fusion/kernel_stacks.h"

#include "evaluate/kernels/kernel_stacks.h"

#include <utility>

namespace monet::fusion {

namespace {

class KernelStackSearch {
 public:
  KernelStackSearch(KernelStep first, const KernelLaws& laws, const KernelStackOptions& options)
      : laws_(laws), options_(options), found_{.step = std::move(first)} {
    found_.value = options.value(found_.step);
  }

  // Ends when no try of a round saves anything, or as many were made as may be.
  KernelStacks run() {
    for (bool saved = true; saved;) {
      saved = false;
      for (std::size_t i = found_.step.stacks.size(); i-- > 0;) {
        for (int move = 0; move < 3 && i < found_.step.stacks.size(); ++move) {
          found_.stopped = options_.stop && options_.stop();
          if (found_.stopped || found_.tried >= options_.tries) return std::move(found_);
          saved |= attempt(i, move);
        }
      }
    }
    return std::move(found_);
  }

 private:
  bool attempt(std::size_t index, int move) {
    std::vector<OperatorStack> stacks = found_.step.stacks;
    OperatorStack& stack = stacks[index];
    if (move == 0 || stack.size() < 3) {
      if (move > 0) return false;  // the same as taking it apart
      stacks.erase(stacks.begin() + static_cast<std::ptrdiff_t>(index));
    } else {
      stack.erase(move == 1 ? stack.begin() : stack.end() - 1);
    }
    ++found_.tried;
    auto other =
        compiled_kernel_step(found_.step.graph, laws_, {.tf32_products = options_.tf32, .stacks = std::move(stacks)});
    if (!other) return false;  // what is left of the stack shares nothing
    const double value = options_.value(*other);
    if (value >= found_.value) return false;
    found_.value = value;
    found_.step = *std::move(other);
    return true;
  }

  const KernelLaws& laws_;
  const KernelStackOptions& options_;
  KernelStacks found_;
};

}  // namespace

KernelStacks improved_stacks(KernelStep first, const KernelLaws& laws, const KernelStackOptions& options) {
  return KernelStackSearch(std::move(first), laws, options).run();
}

std::vector<PlannedStack> stated_stacks(const KernelStep& step) {
  std::vector<PlannedStack> stacks = planned_stacks_of(step.stacks, step.graph);
  if (!stacks.empty()) return stacks;
  for (const Launch& launch : step.lowered.launches) {
    if (launch.nodes.empty()) continue;
    stacks.emplace_back().operators.push_back(step.graph[launch.nodes.front()].name);
    break;
  }
  return stacks;
}

}  // namespace monet::fusion
