#include "optimize/pricing/plan_value.h"

#include <cmath>
#include <limits>
#include <map>
#include <tuple>

namespace monet {

struct PlanValue::Own {
  PlanObjective function;
  double clock_hz = 0;
  std::map<std::tuple<double, double, std::int64_t>, double> known;
};

PlanValue::PlanValue(PlanObjective function, double clock_hz)
    : objective_(SearchObjective::edp),
      own_(std::make_shared<Own>(Own{.function = std::move(function), .clock_hz = clock_hz, .known = {}})) {}

double PlanValue::operator()(const Price& price, std::int64_t peak_bytes) const {
  if (!own_) return value_of(price, objective_);
  const auto [entry, added] = own_->known.try_emplace({price.cycles, price.energy_pj, peak_bytes}, 0);
  if (added) {
    const double value = own_->function({.latency_cycles = price.cycles,
                                         .latency_s = own_->clock_hz > 0 ? price.cycles / own_->clock_hz : 0,
                                         .energy_pj = price.energy_pj,
                                         .peak_bytes = peak_bytes});
    entry->second = std::isnan(value) ? std::numeric_limits<double>::infinity() : value;
  }
  return entry->second;
}

bool PlanValue::forbids(const Price& price, std::int64_t peak_bytes) const {
  return own_ && !std::isfinite((*this)(price, peak_bytes));
}

}  // namespace monet
