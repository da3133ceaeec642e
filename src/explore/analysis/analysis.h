// What a store says: fronts, which parameter matters, how workloads agree.
#pragma once

#include "explore/price/outcome.h"
#include "explore/space/space.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace monet::explore {

// Outcomes that ran and are dominated by none; equal values once (the first design). In the order of the first
// objective.
std::vector<Outcome> front_of(const std::vector<Outcome>& outcomes, const Space& space,
                              const std::vector<Objective>& objectives);

// A design of a front and those that differ from it by no more than `tolerance` (a share of the larger value) in any
// objective: of these the first is kept. `front` is in the order of front_of.
struct FrontGroup {
  std::size_t kept = 0;  // an index of `front`
  std::vector<std::size_t> like;
};
std::vector<FrontGroup> merged_front(const std::vector<std::vector<double>>& front, double tolerance);

// The knee: the point of a front nearest to the corner of all best values, each objective scaled to [0, 1] over the
// front; the first of equal ones. None for fewer than three points, or one objective.
std::optional<std::size_t> knee_of(const std::vector<std::vector<double>>& front);

// Volume between the front and `reference` (worse than all in all), made small; objectives scaled to [0, 1] by `ideal`
// and `reference`. Exact, for two and three objectives and more.
double hypervolume(std::vector<std::vector<double>> points, std::span<const double> ideal,
                   std::span<const double> reference);

// How much of the variance of the logarithm of a metric an axis explains alone (first-order index: the variance of the
// means by value over the variance), and by value of the axis the geometric mean, the best, and how many designs.
struct AxisEffect {
  std::string axis;
  double share = 0;
  double low = 0, high = 0;  // of the share in the whole space, with 90 % confidence (share_interval)
  double likely = 0;         // between them
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

// In which interval, with 90 % confidence, the share that `groups` groups of `samples` samples explain of the variance
// of all there is lies, where among the samples it is `share`: the parameters of the noncentral F distribution by which
// such a share is rarely as small, or as large. From 0 to 1 where there are no more samples than groups. `likely`:
// epsilon squared (Kelley, PNAS 21, 1935), the share less what chance alone explains, (groups - 1) / (samples - 1).
struct ShareInterval {
  double low = 0, high = 1, likely = 0;
};
ShareInterval share_interval(double share, std::size_t groups, std::size_t samples);

// Spearman's, with ties at their mean rank. Not a number for fewer than two pairs, or where one side is constant.
double rank_correlation(std::span<const double> a, std::span<const double> b);

}  // namespace monet::explore
