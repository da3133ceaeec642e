#include "kernels/calibrate/minimize.h"

#include <algorithm>
#include <cmath>

namespace monet {

namespace {

constexpr double golden = 0.6180339887498949;
constexpr int coarse_points = 7;
constexpr int sections = 7;

}  // namespace

void minimize(std::span<double> x, std::span<const SearchRange> ranges, int rounds,
              const std::function<double(std::span<const double>)>& loss) {
  double best = loss(x);
  double width = 1;  // of the whole range, and less each round
  for (int round = 0; round < rounds; ++round) {
    const double before = best;
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (ranges[i].least >= ranges[i].most) continue;
      const double low = std::log(ranges[i].least), high = std::log(ranges[i].most);
      const double middle = std::log(x[i]), reach = (high - low) * width / 2;
      const auto at = [&](double log_value) {
        const double kept = x[i];
        x[i] = std::exp(std::clamp(log_value, low, high));
        const double value = loss(x);
        if (value < best) {
          best = value;
        } else {
          x[i] = kept;
        }
        return value;
      };
      const double step = 2 * reach / (coarse_points - 1);
      for (int point = 0; point < coarse_points; ++point) at(middle - reach + point * step);
      double a = std::log(x[i]) - step, b = std::log(x[i]) + step;
      for (int section = 0; section < sections; ++section) {
        const double c = b - golden * (b - a), d = a + golden * (b - a);
        if (at(c) < at(d)) {
          b = d;
        } else {
          a = c;
        }
      }
    }
    width *= 0.7;
    if (before - best < 1e-5 * best && round > 3) break;
  }
}

}  // namespace monet
