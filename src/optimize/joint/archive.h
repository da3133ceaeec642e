// The plans of which none is better than another in latency, energy, memory and an objective of the user's own.
#pragma once

#include "solvers/nsga2.h"

#include <monet/plan.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <vector>

namespace monet {

// Cycles, energy, bytes with addresses, and an objective of the user's own (0: there is none).
using PlanObjectives = std::array<double, 4>;

struct ArchivedPlan {
  PlanObjectives objectives{};
  Plan plan;
  bool fused = false, placed = false;
};

class PlanArchive {
 public:
  struct Offer {
    PlanObjectives objectives{};
    std::function<Plan()> plan;  // asked only when it is taken
    bool fused = false, placed = false;
  };

  bool has_no_worse(const PlanObjectives& objectives) const {
    return std::ranges::any_of(plans_, [&](const ArchivedPlan& known) {
      return known.objectives == objectives || dominates(known.objectives, objectives);
    });
  }

  void add(const Offer& offer) {
    if (has_no_worse(offer.objectives)) return;
    std::erase_if(plans_, [&](const ArchivedPlan& known) { return dominates(offer.objectives, known.objectives); });
    plans_.push_back({offer.objectives, offer.plan(), offer.fused, offer.placed});
    if (taken_) taken_(offer.objectives);
  }
  void tell(std::function<void(const PlanObjectives&)> taken) { taken_ = std::move(taken); }

  const std::vector<ArchivedPlan>& plans() const { return plans_; }

  // At most so many of those within limits: the best in each objective and in latency times energy, and others evenly
  // in the order of latency.
  std::vector<ArchivedPlan> spread(std::size_t most, double cycles, double bytes) const {
    std::vector<ArchivedPlan> sorted;
    for (const ArchivedPlan& plan : plans_) {
      // Infinity: the user's own objective forbids it.
      if (plan.objectives[0] <= cycles && plan.objectives[2] <= bytes && std::isfinite(plan.objectives[3]))
        sorted.push_back(plan);
    }
    std::ranges::stable_sort(sorted, {}, &ArchivedPlan::objectives);
    if (sorted.size() <= most) return sorted;
    std::vector<bool> wanted(sorted.size(), false);
    const auto want_least = [&](const auto& value) {
      wanted[static_cast<std::size_t>(std::ranges::min_element(sorted, {}, value) - sorted.begin())] = true;
    };
    for (std::size_t o = 0; o < PlanObjectives().size(); ++o)
      want_least([o](const ArchivedPlan& p) { return p.objectives[o]; });
    want_least([](const ArchivedPlan& p) { return p.objectives[0] * p.objectives[1]; });
    const bool own = std::ranges::any_of(sorted, [](const ArchivedPlan& p) { return p.objectives.back() != 0; });
    const std::size_t singled_out = own ? 5 : 4;
    const std::size_t others = most > singled_out ? most - singled_out : 1;
    for (std::size_t i = 0; i < others; ++i)
      wanted[i * (sorted.size() - 1) / std::max<std::size_t>(1, others - 1)] = true;
    std::vector<ArchivedPlan> result;
    for (std::size_t i = 0; i < sorted.size(); ++i) {
      if (wanted[i]) result.push_back(std::move(sorted[i]));
    }
    return result;
  }

  // The first of those that `key` makes smallest; null: there is none.
  template <class Key>
  const ArchivedPlan* best(const Key& key) const {
    const auto found = std::ranges::min_element(plans_, {}, key);
    return found == plans_.end() ? nullptr : &*found;
  }

 private:
  std::vector<ArchivedPlan> plans_;
  std::function<void(const PlanObjectives&)> taken_;
};

}  // namespace monet
