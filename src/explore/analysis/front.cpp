#include "explore/analysis/analysis.h"
#include "solvers/nsga2.h"

#include <algorithm>

namespace monet::explore {

std::vector<Outcome> front_of(const std::vector<Outcome>& outcomes, const Space& space,
                              const std::vector<Objective>& objectives) {
  struct Point {
    std::vector<double> values;
    const Outcome* outcome;
  };
  std::vector<Point> points;
  for (const Outcome& outcome : outcomes) {
    if (!outcome.ran()) continue;
    std::vector<double> values = values_of(outcome, space, objectives);
    if (!values.empty()) points.push_back({std::move(values), &outcome});
  }
  std::ranges::sort(points, [](const Point& a, const Point& b) {
    return a.values != b.values ? a.values < b.values : a.outcome->design < b.outcome->design;
  });
  // What dominates a point comes before it; in two objectives, the last of the front does if any does.
  std::vector<const Point*> front;
  for (const Point& point : points) {
    const auto beats = [&](const Point* other) {
      return other->values == point.values || dominates(other->values, point.values);
    };
    const auto from = objectives.size() <= 2 && !front.empty() ? front.end() - 1 : front.begin();
    if (std::any_of(from, front.end(), beats)) continue;
    front.push_back(&point);
  }
  std::vector<Outcome> result;
  for (const Point* point : front) result.push_back(*point->outcome);
  return result;
}

}  // namespace monet::explore
