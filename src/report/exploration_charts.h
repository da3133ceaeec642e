// Pictures for the page of an exploration: SVG that takes its colours from the page's style sheet.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace monet {

using NumberText = std::function<std::string(double)>;

struct ChartAxis {
  std::string label;
  NumberText text;
  double unit = 1;        // round numbers are multiples of it: 1024 ** n for bytes
  bool logarithm = true;  // where all are positive and the largest is ten times the least
};

// Many points, thinned where they would cover each other, and some that are marked.
struct ScatterChart {
  ChartAxis x, y;
  std::vector<std::pair<double, double>> points;
  struct Mark {
    double x = 0, y = 0;
    std::string words;  // when the mouse is over it
  };
  std::vector<Mark> marks;
  bool steps = false;  // a line from mark to mark, as a front has it
};
std::string draw(const ScatterChart& chart);

struct ChartBar {
  std::string name;
  double value = 0;   // from 0
  std::string words;  // beside it
};
// `most`: of the scale; 0: the largest value.
std::string draw(const std::vector<ChartBar>& bars, double most, double width);

}  // namespace monet
