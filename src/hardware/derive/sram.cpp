// One SRAM macro: CACTI 7 at 22, 28, 45 and 65 nm, 512 B to 32 MiB, 32 to 2048 bit (data/hardware/sram.csv).
//
// Each width and node of the table is a curve over size; between widths, and between nodes, values are interpolated on
// logarithmic axes like sizes. Beyond the table sizes, and widths below it, follow the power law fitted to it; wider
// words are spread over macros side by side, each with its share of the size; other nodes are scaled from the nearest.
#include "base/embedded.h"
#include "base/require.h"
#include "hardware/derive/costs.h"
#include "hardware/derive/curve.h"
#include "hardware/derive/scaling.h"
#include "hardware/derive/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

namespace monet {

namespace {

constexpr double sram_scaling_voltage = 0.8;  // at which the scaling table is most often quoted
enum SramFigure : std::size_t { read, write, leakage, area, quantity_count };
constexpr std::array<std::string_view, quantity_count> columns{"read_pj", "write_pj", "leakage_mw", "area_mm2"};

// One quantity at one node.
struct Sheet {
  double size_power = 1, width_power = 0;  // leakage: in proportion to size, whatever the width
  std::map<double, Curve> by_width;        // over sizes in bytes

  double at(double size, double width) const {
    std::vector<Curve::Point> points;
    for (const auto& [bits, curve] : by_width) points.push_back({bits, curve.at(size)});
    return Curve(std::move(points), width_power, width_power).at(width);
  }
};
using Sheets = std::map<double, std::array<Sheet, quantity_count>>;  // by node

// A macro never costs more than a larger one, which could serve in its place: two points of the table say otherwise.
void remove_dips(std::vector<Curve::Point>& points) {
  for (std::size_t i = points.size() - 1; i > 0; --i) points[i - 1].y = std::min(points[i - 1].y, points[i].y);
}

Sheets read_sheets() {
  Sheets sheets;
  const CostTable fits(embedded_text("data/hardware/sram_fit.csv"));
  for (std::size_t row = 0; row < fits.rows(); ++row) {
    const auto quantity = std::ranges::find(columns, fits.text(row, "quantity")) - columns.begin();
    MONET_REQUIRE(static_cast<std::size_t>(quantity) < quantity_count);
    Sheet& sheet = sheets[fits.number(row, "node_nm")][static_cast<std::size_t>(quantity)];
    sheet.size_power = fits.number(row, "size_exponent");
    sheet.width_power = fits.number(row, "width_exponent");
  }
  const CostTable table(embedded_text("data/hardware/sram.csv"));
  std::map<double, std::map<double, std::array<std::vector<Curve::Point>, quantity_count>>> points;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    auto& column = points[table.number(row, "node_nm")][table.number(row, "width_bits")];
    for (std::size_t q = 0; q < quantity_count; ++q)
      column[q].push_back({table.number(row, "size_bytes"), table.number(row, columns[q])});
  }
  for (auto& [node, widths] : points) {
    for (auto& [width, column] : widths) {
      for (std::size_t q = 0; q < quantity_count; ++q) {
        Sheet& sheet = sheets[node][q];
        std::ranges::sort(column[q], {}, &Curve::Point::x);
        remove_dips(column[q]);
        sheet.by_width.emplace(width, Curve(std::move(column[q]), sheet.size_power, sheet.size_power));
      }
    }
  }
  return sheets;
}

const Sheets& sheets() {
  static const Sheets all = read_sheets();
  return all;
}

std::string size_text(double bytes) {
  if (bytes >= 1 << 20) return fmt::format("{:g} MiB", bytes / (1 << 20));
  if (bytes >= 1 << 10) return fmt::format("{:g} KiB", bytes / (1 << 10));
  return fmt::format("{:g} B", bytes);
}

// Where a value lies among those of the table, in words, and how far an answer there can be trusted.
struct Location {
  std::string text;  // empty: on a point
  char confidence = 'A';
};

template <class Format>
Location locate(double value, const std::vector<double>& known, const Format& format) {
  const auto right = std::ranges::lower_bound(known, value);
  if (right != known.end() && *right == value) return {};
  if (right == known.begin()) return {fmt::format("extrapolated below {}", format(*right)), 'D'};
  if (right == known.end()) return {fmt::format("extrapolated above {}", format(known.back())), 'D'};
  return {fmt::format("between {} and {}", format(*(right - 1)), format(*right)), 'B'};
}

// Sizes that the table has at both neighbouring widths; outside them one of the two is extrapolated.
std::vector<double> sizes_at(const Sheet& sheet, double width) {
  double first = 0;
  for (const auto& [bits, curve] : sheet.by_width) {
    first = std::max(first, curve.first());
    if (bits >= width) break;
  }
  std::vector<double> sizes;
  for (double size = first; size <= sheet.by_width.begin()->second.last(); size *= 2) sizes.push_back(size);
  return sizes;
}

double value_at(SramFigure quantity, double size, double width, double node) {
  const Sheets& all = sheets();
  const double widest = all.begin()->second[quantity].by_width.rbegin()->first;
  if (width > widest) return width / widest * value_at(quantity, size * widest / width, widest, node);
  const double first = all.begin()->first, last = all.rbegin()->first;
  const double inside = std::clamp(node, first, last);
  std::vector<Curve::Point> points;
  for (const auto& [nm, quantities] : all) points.push_back({nm, quantities[quantity].at(size, width)});
  const double value = Curve(std::move(points), 0, 0).at(inside);
  if (inside == node || quantity == leakage) return value;
  return value * (quantity == area ? area_ratio(inside, node) : energy_ratio(inside, node, sram_scaling_voltage));
}

DerivedCost cost(SramFigure quantity, double size, double width, double node) {
  const Sheets& all = sheets();
  const Sheet& sheet = all.begin()->second[quantity];
  std::vector<double> nodes, widths;
  for (const auto& [nm, quantities] : all) nodes.push_back(nm);
  for (const auto& [bits, curve] : sheet.by_width) widths.push_back(bits);

  DerivedCost answer{value_at(quantity, size, width, node), "CACTI 7", 'A'};
  const auto add = [&](const Location& location) {
    if (!location.text.empty()) answer.source += ", " + location.text;
    answer.confidence = std::max(answer.confidence, location.confidence);
  };
  const auto nanometres = [](double nm) { return fmt::format("{:g} nm", nm); };
  if (node < nodes.front() || node > nodes.back()) {
    const double nearest = std::clamp(node, nodes.front(), nodes.back());
    answer.source += fmt::format(" at {:g} nm", nearest);
    add({quantity == leakage ? fmt::format("as at {:g} nm", nearest)
                             : fmt::format("scaled to {:g} nm by {}", node, scaling_source),
         'D'});
  } else {
    const Location location = locate(node, nodes, nanometres);
    answer.source += location.text.empty() ? fmt::format(" at {:g} nm", node) : " " + location.text;
    answer.confidence = std::max(answer.confidence, location.confidence);
  }
  if (width > widths.back()) {
    add({fmt::format("{:.4g} macros of {:g} bit side by side", width / widths.back(), widths.back()), 'D'});
    size *= widths.back() / width;
    width = widths.back();
  }
  add(locate(size, sizes_at(sheet, width), size_text));
  add(locate(width, widths, [](double bits) { return fmt::format("{:g} bit", bits); }));
  return answer;
}

}  // namespace

SramCosts sram_costs(double size_bytes, double width_bits, double technology_nm) {
  MONET_REQUIRE(size_bytes > 0 && width_bits > 0 && technology_nm > 0);
  SramCosts costs{cost(read, size_bytes, width_bits, technology_nm), cost(write, size_bytes, width_bits, technology_nm),
                  cost(leakage, size_bytes, width_bits, technology_nm),
                  cost(area, size_bytes, width_bits, technology_nm)};
  costs.static_w.value *= 1e-3;  // the table has milliwatts
  return costs;
}

}  // namespace monet
