#include "graph/resample.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace monet {

namespace {

// Keys' kernel at distances 1 + t, t, 1 - t, 2 - t.
std::array<double, 4> cubic_weights(double t, double a) {
  const auto near = [a](double x) { return ((a + 2) * x - (a + 3)) * x * x + 1; };
  const auto far = [a](double x) { return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a; };
  return {far(1 + t), near(t), near(1 - t), far(2 - t)};
}

double resize_coordinate(const Attributes& attributes, std::size_t axis, double from, double to, double o) {
  const std::string& mode = attributes.text(Attr::coordinate_mode);
  const double scale = attributes.reals(Attr::scales)[axis];
  if (mode == "asymmetric") return o / scale;
  if (mode == "align_corners") return to > 1 ? o * (from - 1) / (to - 1) : 0;
  if (mode == "pytorch_half_pixel") return to > 1 ? (o + 0.5) / scale - 0.5 : 0;
  if (mode == "half_pixel_symmetric") return from / 2 * (1 - to / (scale * from)) + (o + 0.5) / scale - 0.5;
  if (mode == "tf_crop_and_resize") {
    const auto& region = attributes.reals(Attr::roi);
    const double begin = region[axis];
    const double end = region[axis + region.size() / 2];
    return to > 1 ? begin * (from - 1) + o * (end - begin) * (from - 1) / (to - 1) : 0.5 * (begin + end) * (from - 1);
  }
  return (o + 0.5) / scale - 0.5;
}

double nearest(const std::string& mode, double x) {
  if (mode == "floor") return std::floor(x);
  if (mode == "ceil") return std::ceil(x);
  if (mode == "round_prefer_ceil") return std::floor(x + 0.5);
  return std::ceil(x - 0.5);
}

// Inside the axis: what lies beyond an end is read at the end, or not at all when `exclude` says so.
Taps taps_around(const Attributes& attributes, double x, std::int64_t size) {
  const std::string& mode = attributes.text(Attr::mode);
  x = std::isnan(x) ? 0.0 : std::clamp(x, -1e15, 1e15);
  Taps taps;
  if (mode == "nearest") {
    taps = {{static_cast<std::int64_t>(nearest(attributes.text(Attr::nearest_mode), x)), 1.0}};
  } else if (mode == "linear") {
    taps = linear_taps(x);
  } else {
    taps = cubic_taps(x, attributes.real(Attr::cubic_coeff_a));
    if (attributes.integer(Attr::exclude_outside) != 0) {
      double total = 0;
      for (Tap& tap : taps) {
        if (tap.position < 0 || tap.position >= size) tap.weight = 0;
        total += tap.weight;
      }
      for (Tap& tap : taps) tap.weight /= total;
    }
  }
  for (Tap& tap : taps) tap.position = std::clamp<std::int64_t>(tap.position, 0, size - 1);
  return taps;
}

}  // namespace

Taps linear_taps(double x) {
  const double floor = std::floor(x);
  const auto first = static_cast<std::int64_t>(floor);
  return {{first, 1 - (x - floor)}, {first + 1, x - floor}};
}

Taps cubic_taps(double x, double a) {
  const double floor = std::floor(x);
  const auto first = static_cast<std::int64_t>(floor) - 1;
  const auto weights = cubic_weights(x - floor, a);
  return {{first, weights[0]}, {first + 1, weights[1]}, {first + 2, weights[2]}, {first + 3, weights[3]}};
}

bool resamples(const Attributes& attributes, std::size_t axis, std::int64_t from, std::int64_t to) {
  const bool crops = attributes.text(Attr::coordinate_mode) == "tf_crop_and_resize";
  return crops || from != to || attributes.reals(Attr::scales)[axis] != 1;
}

std::vector<Taps> resize_taps(const Attributes& attributes, std::size_t axis, std::int64_t from, std::int64_t to) {
  const bool crops = attributes.text(Attr::coordinate_mode) == "tf_crop_and_resize";
  const auto size = static_cast<double>(from);
  std::vector<Taps> taps;
  for (std::int64_t o = 0; o < to; ++o) {
    const double x = resize_coordinate(attributes, axis, size, static_cast<double>(to), static_cast<double>(o));
    const bool beyond = crops && (x < 0 || x > size - 1);
    taps.push_back(beyond ? Taps{} : taps_around(attributes, x, from));
  }
  return taps;
}

}  // namespace monet
