// What a store says: fronts, which parameter matters, how workloads agree.
#pragma once

#include "explore/price/outcome.h"
#include "explore/space/space.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace monet::explore {

// Outcomes that ran and are dominated by none; equal values once (the first design). In the order of the first
// objective.
std::vector<Outcome> front_of(const std::vector<Outcome>& outcomes, const Space& space,
                              const std::vector<Objective>& objectives);

// Volume between the front and `reference` (worse than all in all), made small; objectives scaled to [0, 1] by `ideal`
// and `reference`. Exact, for two and three objectives and more.
double hypervolume(std::vector<std::vector<double>> points, std::span<const double> ideal,
                   std::span<const double> reference);

// How much of the variance of the logarithm of a metric an axis explains alone (first-order index: the variance of the
// means by value over the variance), and by value of the axis the geometric mean, the best, and how many designs.
struct AxisEffect {
  std::string axis;
  double share = 0;
  struct Value {
    std::string text;
    std::uint64_t designs = 0;
    double mean = 0, best = 0;
    std::uint64_t on_front = 0;
  };
  std::vector<Value> values;
};
std::vector<AxisEffect> sensitivities(const std::vector<Outcome>& outcomes, const Space& space,
                                      const Objective& objective, const std::vector<Objective>& front_objectives);

// Spearman's, with ties at their mean rank. Not a number for fewer than two pairs, or where one side is constant.
double rank_correlation(std::span<const double> a, std::span<const double> b);

}  // namespace monet::explore
