#include <monet/plan.h>

#include <array>

namespace monet {

bool is_empty(const Plan& plan) {
  return plan.order == PlanOrder::critical_path && plan.transfers == PlanTransfers::direct && plan.expanded.empty() &&
         plan.stacks.empty() && plan.operators.empty() && plan.tensors.empty() && plan.home.empty() && !plan.parallel;
}

std::string_view name_of(Retention retention) {
  static constexpr std::array<std::string_view, 3> names = {"keep", "recompute", "page"};
  return names[static_cast<std::size_t>(retention)];
}

std::string_view name_of(PlanOrder order) {
  static constexpr std::array<std::string_view, 4> names = {"critical-path", "graph", "listed", "frugal"};
  return names[static_cast<std::size_t>(order)];
}

std::string_view name_of(PlanTransfers transfers) {
  static constexpr std::array<std::string_view, 2> names = {"direct", "memory"};
  return names[static_cast<std::size_t>(transfers)];
}

}  // namespace monet
