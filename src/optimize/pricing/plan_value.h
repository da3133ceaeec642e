// What a search of plans makes small: a known objective, or a function of the user's own.
#pragma once

#include "optimize/pricing/pricer.h"

#include <monet/objective.h>

#include <cstdint>
#include <memory>

namespace monet {

class PlanValue {
 public:
  PlanValue(SearchObjective objective = SearchObjective::latency) : objective_(objective) {}
  // A clock of 0: seconds are not known.
  PlanValue(PlanObjective function, double clock_hz);

  // `peak_bytes`: of the memory of the budget.
  double operator()(const Price& price, std::int64_t peak_bytes) const;

  // Whether a function gives infinity: the plan must not be taken.
  bool forbids(const Price& price, std::int64_t peak_bytes) const;

  bool is_function() const { return own_ != nullptr; }
  // For what is no whole plan. A function cannot be asked there: the product of latency and energy stands for it.
  SearchObjective of_parts() const { return objective_; }

 private:
  struct Own;
  SearchObjective objective_ = SearchObjective::latency;
  std::shared_ptr<Own> own_;  // copies ask the function once for all
};

}  // namespace monet
