#include "explore/analysis/analysis.h"
#include "solvers/nsga2.h"

#include <algorithm>

namespace monet::explore {

namespace {

using Point = std::vector<double>;

// Worst in the last objective first.
void keep_front(std::vector<Point>& points) {
  const auto last_first = [](const Point& a, const Point& b) {
    return std::ranges::lexicographical_compare(a.rbegin(), a.rend(), b.rbegin(), b.rend());
  };
  std::ranges::sort(points, last_first);
  points.erase(std::ranges::unique(points).begin(), points.end());
  std::vector<Point> front;
  for (Point& point : points) {
    if (std::ranges::none_of(front, [&](const Point& other) { return dominates(other, point); }))
      front.push_back(std::move(point));
  }
  std::ranges::reverse(front);
  points = std::move(front);
}

// Up to the corner (1, 1).
double area(std::vector<Point>& points) {
  std::ranges::sort(points);
  double sum = 0, below = 1;
  for (const Point& point : points) {  // to the right, and down
    if (point[1] >= below) continue;
    sum += (1 - point[0]) * (below - point[1]);
    below = point[1];
  }
  return sum;
}

// The exclusive volumes of the points one after the other (While, Bradstreet, Barone, "A fast way of calculating exact
// hypervolumes", 2012): what a point dominates alone is its box less what those after it dominate within that box. None
// of them is worse in the last objective, which therefore is the same for all within.
double volume(std::vector<Point> points) {
  if (points.empty()) return 0;
  const std::size_t n = points.front().size();
  if (n == 0) return 0;
  if (n == 1) return 1 - std::ranges::min(points)[0];
  if (n == 2) return area(points);
  keep_front(points);
  double sum = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    double box = 1;
    for (std::size_t k = 0; k + 1 < n; ++k) box *= 1 - points[i][k];
    std::vector<Point> within;
    for (std::size_t j = i + 1; j < points.size(); ++j) {
      Point corner(n - 1);
      for (std::size_t k = 0; k + 1 < n; ++k) corner[k] = std::max(points[i][k], points[j][k]);
      within.push_back(std::move(corner));
    }
    sum += (1 - points[i][n - 1]) * (box - volume(std::move(within)));
  }
  return sum;
}

}  // namespace

double hypervolume(std::vector<std::vector<double>> points, std::span<const double> ideal,
                   std::span<const double> reference) {
  std::vector<Point> inside;
  for (Point& point : points) {
    bool counts = true;
    for (std::size_t i = 0; i < point.size(); ++i) {
      const double extent = reference[i] - ideal[i];
      // An objective in which all are equal leaves the others to decide.
      point[i] = extent > 0 ? std::max(0.0, (point[i] - ideal[i]) / extent) : 0;
      counts &= point[i] < 1;
    }
    if (counts) inside.push_back(std::move(point));
  }
  return volume(std::move(inside));
}

}  // namespace monet::explore
