#include "hardware/derive/curve.h"

#include "base/require.h"

#include <algorithm>
#include <cmath>

namespace monet {

Curve::Curve(std::vector<Point> points, double power_below, double power_above)
    : points_(std::move(points)), power_below_(power_below), power_above_(power_above) {
  MONET_REQUIRE(!points_.empty());
}

double Curve::at(double x) const {
  const auto right = std::ranges::lower_bound(points_, x, {}, &Point::x);
  if (right == points_.end()) return points_.back().y * std::pow(x / points_.back().x, power_above_);
  if (right->x == x) return right->y;
  if (right == points_.begin()) return right->y * std::pow(x / right->x, power_below_);
  const Point& left = *(right - 1);
  return left.y * std::pow(right->y / left.y, std::log(x / left.x) / std::log(right->x / left.x));
}

}  // namespace monet
