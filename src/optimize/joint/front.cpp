#include "optimize/joint/front.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace monet {

namespace {

// No worse in anything by more than a thousandth.
bool nearly_as_good(const PlanObjectives& plan, const PlanObjectives& other) {
  constexpr double margin = 1e-3;
  for (std::size_t o = 0; o < plan.size(); ++o) {
    if (plan[o] > other[o] + margin * std::abs(other[o])) return false;
  }
  return true;
}

}  // namespace

PlanObjectives objectives_of(const Price& price, std::int64_t peak_bytes, const PlanValue& objective) {
  const double own = objective.is_function() ? objective(price, peak_bytes) : 0;
  return {price.cycles, price.energy_pj, static_cast<double>(peak_bytes), own};
}

std::vector<JointPlan> front_of(std::vector<JointPlan> plans, const PlanValue& objective) {
  const auto objectives = [&](const JointPlan& plan) { return objectives_of(plan.price, plan.peak_bytes, objective); };
  std::ranges::stable_sort(plans, {}, objectives);
  const auto best = std::ranges::min_element(
      plans, {}, [&](const JointPlan& plan) { return objective(plan.price, plan.peak_bytes); });
  if (best != plans.end()) std::rotate(plans.begin(), best, best + 1);
  std::vector<JointPlan> apart;
  for (JointPlan& plan : plans) {
    const bool beaten = std::ranges::any_of(
        apart, [&](const JointPlan& other) { return nearly_as_good(objectives(other), objectives(plan)); });
    if (!beaten) apart.push_back(std::move(plan));
  }
  std::ranges::stable_sort(apart, {}, objectives);
  std::vector<JointPlan> front;
  for (const JointPlan& plan : apart) {
    const bool beaten = std::ranges::any_of(
        apart, [&](const JointPlan& other) { return dominates(objectives(other), objectives(plan)); });
    if (!beaten) front.push_back(plan);
  }
  return front;
}

}  // namespace monet
