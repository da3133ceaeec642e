// A power law in pieces: straight lines through points in doubly logarithmic axes.
#pragma once

#include <vector>

namespace monet {

class Curve {
 public:
  struct Point {
    double x, y;
  };
  // Requires one point at least, x rising and everything positive. Beyond the ends the curve goes on as x to that
  // power.
  Curve(std::vector<Point> points, double power_below, double power_above);

  // Requires x > 0. Exact at the points.
  double at(double x) const;
  double first() const { return points_.front().x; }
  double last() const { return points_.back().x; }

 private:
  std::vector<Point> points_;
  double power_below_, power_above_;
};

}  // namespace monet
