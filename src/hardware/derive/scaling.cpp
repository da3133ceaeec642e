#include "hardware/derive/scaling.h"

#include "base/embedded.h"
#include "hardware/derive/curve.h"
#include "hardware/derive/table.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace monet {

namespace {

const CostTable& scaling_table() {
  static const CostTable table(embedded_text("data/hardware/scaling.csv"));
  return table;
}

// `value` of every row, as a curve over nodes.
Curve curve_over_nodes(const std::function<double(std::size_t)>& value, double power_below) {
  const CostTable& table = scaling_table();
  std::vector<Curve::Point> points;
  for (std::size_t row = 0; row < table.rows(); ++row) points.push_back({table.number(row, "node_nm"), value(row)});
  std::ranges::sort(points, {}, &Curve::Point::x);
  const Curve::Point& last = points.back();
  const Curve::Point& before = points[points.size() - 2];
  return {points, power_below, std::log(last.y / before.y) / std::log(last.x / before.x)};
}

}  // namespace

double energy_ratio(double from_nm, double to_nm, double voltage) {
  if (from_nm == to_nm) return 1;
  const CostTable& table = scaling_table();
  const Curve factor = curve_over_nodes(
      [&](std::size_t row) {
        return (table.number(row, "a2") * voltage + table.number(row, "a1")) * voltage + table.number(row, "a0");
      },
      0.5);
  return factor.at(to_nm) / factor.at(from_nm);
}

double area_ratio(double from_nm, double to_nm) {
  if (from_nm == to_nm) return 1;
  static const Curve area = curve_over_nodes([](std::size_t row) { return scaling_table().number(row, "area"); }, 1);
  return area.at(to_nm) / area.at(from_nm);
}

}  // namespace monet
