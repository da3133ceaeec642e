#include "explore/analysis/analysis.h"
#include "solvers/nsga2.h"

#include <algorithm>
#include <cmath>

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

std::vector<FrontGroup> merged_front(const std::vector<std::vector<double>>& front, double tolerance) {
  const auto alike = [&](const std::vector<double>& a, const std::vector<double>& b) {
    for (std::size_t i = 0; i < a.size(); ++i) {
      // Infinity less infinity is no number: equal values first.
      if (a[i] != b[i] && !(std::abs(a[i] - b[i]) <= tolerance * std::max(std::abs(a[i]), std::abs(b[i]))))
        return false;
    }
    return true;
  };
  std::vector<FrontGroup> groups;
  for (std::size_t i = 0; i < front.size(); ++i) {
    const auto found = tolerance > 0 ? std::ranges::find_if(
                                           groups, [&](const FrontGroup& g) { return alike(front[g.kept], front[i]); })
                                     : groups.end();
    if (found == groups.end())
      groups.push_back({.kept = i});
    else
      found->like.push_back(i);
  }
  return groups;
}

std::optional<std::size_t> knee_of(const std::vector<std::vector<double>>& front) {
  if (front.size() < 3 || front[0].size() < 2) return std::nullopt;
  std::vector<double> low = front[0], high = front[0];
  for (const std::vector<double>& point : front) {
    for (std::size_t i = 0; i < point.size(); ++i) {
      low[i] = std::min(low[i], point[i]);
      high[i] = std::max(high[i], point[i]);
    }
  }
  const auto distance = [&](const std::vector<double>& point) {
    double sum = 0;
    for (std::size_t i = 0; i < point.size(); ++i) {
      const double range = high[i] - low[i];
      const double scaled = range > 0 && std::isfinite(range) ? (point[i] - low[i]) / range : 0;
      sum += scaled * scaled;
    }
    return sum;
  };
  return static_cast<std::size_t>(std::ranges::min_element(front, {}, distance) - front.begin());
}

}  // namespace monet::explore
