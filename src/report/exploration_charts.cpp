#include "report/exploration_charts.h"

#include "report/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <unordered_set>

namespace monet {

namespace {

constexpr double width = 640, height = 420, left = 78, right = 18, top = 14, bottom = 52;

// From values to pixels.
class Scale {
 public:
  Scale(const ChartAxis& axis, double from, double to, double first, double last)
      : axis_(axis), first_(first), last_(last) {
    logarithm_ = axis.logarithm && from > 0 && to >= 10 * from;
    low_ = place(from);
    high_ = place(to);
    const double margin = high_ > low_ ? 0.04 * (high_ - low_) : std::max(std::abs(low_), 1.0) * 0.5;
    low_ -= margin;
    high_ += margin;
  }

  double operator()(double value) const { return first_ + (place(value) - low_) / (high_ - low_) * (last_ - first_); }

  // Round numbers, six or so.
  std::vector<double> ticks() const {
    std::vector<double> found = logarithm_ ? decades({1, 2, 5}) : even();
    if (logarithm_ && found.size() > 8) found = decades({1});
    if (logarithm_ && found.size() < 2) found = even();
    return found;
  }

 private:
  double place(double value) const { return logarithm_ ? std::log10(value / axis_.unit) : value / axis_.unit; }
  double value_at(double place) const { return axis_.unit * (logarithm_ ? std::pow(10, place) : place); }

  std::vector<double> decades(const std::vector<double>& digits) const {
    std::vector<double> found;
    for (double decade = std::floor(low_); decade <= high_ && found.size() < 50; ++decade) {
      for (const double digit : digits) {
        const double at = decade + std::log10(digit);
        if (at >= low_ && at <= high_) found.push_back(axis_.unit * digit * std::pow(10, decade));
      }
    }
    return found;
  }

  std::vector<double> even() const {
    const double from = value_at(low_) / axis_.unit, to = value_at(high_) / axis_.unit;
    const double rough = (to - from) / 6, power = std::pow(10, std::floor(std::log10(rough)));
    double step = 10 * power;
    for (const double digit : {5.0, 2.0, 1.0}) {
      if (digit * power >= rough) step = digit * power;
    }
    std::vector<double> found;
    for (double k = std::ceil(from / step); k * step <= to && found.size() < 50; ++k)
      found.push_back(k * step * axis_.unit);
    return found;
  }

  const ChartAxis& axis_;
  double first_, last_;
  double low_ = 0, high_ = 1;
  bool logarithm_ = false;
};

void draw_axes(std::string& body, const ScatterChart& chart, const Scale& x, const Scale& y) {
  auto out = std::back_inserter(body);
  for (const double tick : x.ticks()) {
    fmt::format_to(out,
                   "<path class=\"grid\" d=\"M{0:.1f} {1}V{2}\"/><text class=\"tick\" x=\"{0:.1f}\" y=\"{3}\" "
                   "text-anchor=\"middle\">{4}</text>\n",
                   x(tick), top, height - bottom, height - bottom + 18, html_escaped(chart.x.text(tick)));
  }
  for (const double tick : y.ticks()) {
    fmt::format_to(out,
                   "<path class=\"grid\" d=\"M{1} {0:.1f}H{2}\"/><text class=\"tick\" x=\"{3}\" y=\"{4:.1f}\" "
                   "text-anchor=\"end\">{5}</text>\n",
                   y(tick), left, width - right, left - 8, y(tick) + 4, html_escaped(chart.y.text(tick)));
  }
  fmt::format_to(out, "<text class=\"label\" x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n",
                 (left + width - right) / 2, height - 10, html_escaped(chart.x.label));
  fmt::format_to(out,
                 "<text class=\"label\" transform=\"translate(14 {}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
                 (top + height - bottom) / 2, html_escaped(chart.y.label));
}

// Points that share half a pixel are one; of very many, those that share more.
void draw_points(std::string& body, const ScatterChart& chart, const Scale& x, const Scale& y) {
  constexpr std::size_t many = 20000;
  const double cell = chart.points.size() > many ? 1.5 : 0.5;
  std::unordered_set<std::int64_t> taken;
  body += "<path class=\"points\" d=\"";
  for (const auto& [px, py] : chart.points) {
    const double at_x = x(px), at_y = y(py);
    const auto key = std::llround(at_x / cell) * 100000 + std::llround(at_y / cell);
    if (taken.insert(key).second) fmt::format_to(std::back_inserter(body), "M{:.1f} {:.1f}h0", at_x, at_y);
  }
  body += "\"/>\n";
}

void draw_marks(std::string& body, const ScatterChart& chart, const Scale& x, const Scale& y) {
  auto out = std::back_inserter(body);
  if (chart.steps && chart.marks.size() > 1) {
    fmt::format_to(out, "<path class=\"front\" d=\"M{:.1f} {:.1f}", x(chart.marks[0].x), y(chart.marks[0].y));
    for (std::size_t i = 1; i < chart.marks.size(); ++i)
      fmt::format_to(out, "H{:.1f}V{:.1f}", x(chart.marks[i].x), y(chart.marks[i].y));
    body += "\"/>\n";
  }
  for (const ScatterChart::Mark& mark : chart.marks) {
    fmt::format_to(out, "<circle class=\"mark\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4.5\"><title>{}</title></circle>\n",
                   x(mark.x), y(mark.y), html_escaped(mark.words));
  }
}

}  // namespace

std::string draw(const ScatterChart& chart) {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  double least_x = infinite, most_x = -infinite, least_y = infinite, most_y = -infinite;
  const auto look = [&](double px, double py) {
    least_x = std::min(least_x, px);
    most_x = std::max(most_x, px);
    least_y = std::min(least_y, py);
    most_y = std::max(most_y, py);
  };
  for (const auto& [px, py] : chart.points) look(px, py);
  for (const ScatterChart::Mark& mark : chart.marks) look(mark.x, mark.y);
  if (!(least_x <= most_x)) return "";
  const Scale x(chart.x, least_x, most_x, left, width - right), y(chart.y, least_y, most_y, height - bottom, top);
  std::string body;
  draw_axes(body, chart, x, y);
  draw_points(body, chart, x, y);
  draw_marks(body, chart, x, y);
  return fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{} against {}\">\n{}</svg>\n", width, height,
                     html_escaped(chart.y.label), html_escaped(chart.x.label), body);
}

std::string draw(const std::vector<ChartBar>& bars, double most, double across) {
  constexpr double row = 22;
  double names = 0, words = 0;
  for (const ChartBar& bar : bars) {
    names = std::max(names, Svg::width_of(bar.name, "small") * 1.05);
    words = std::max(words, Svg::width_of(bar.words, "small") * 1.05);
    if (std::isfinite(bar.value)) most = std::max(most, bar.value);
  }
  names += 10;
  const double room = std::max(20.0, across - names - words - 14);
  std::string body;
  for (std::size_t i = 0; i < bars.size(); ++i) {
    const double y = row * static_cast<double>(i);
    const double length = most > 0 && std::isfinite(bars[i].value) ? bars[i].value / most * room : 0;
    fmt::format_to(
        std::back_inserter(body),
        "<text class=\"tick\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text><rect class=\"bar\" x=\"{:.1f}\" "
        "y=\"{:.1f}\" width=\"{:.1f}\" height=\"{}\" rx=\"2\"/><text class=\"tick\" x=\"{:.1f}\" "
        "y=\"{:.1f}\">{}</text>\n",
        names - 8, y + 15, html_escaped(bars[i].name), names, y + 3, length, row - 6, names + length + 6, y + 15,
        html_escaped(bars[i].words));
  }
  return fmt::format(
      "<svg viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" height=\"{1:.0f}\" role=\"img\">\n{2}</svg>\n", across,
      row * static_cast<double>(bars.size()), body);
}

}  // namespace monet
