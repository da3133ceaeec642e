#include "interpret/resample.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace monet {

namespace {

// An element along one axis and its weight. Elements outside the axis are put right by who reads them.
struct Tap {
  std::int64_t position;
  double weight;
};
using Taps = std::vector<Tap>;

// Keys' kernel at distances 1 + t, t, 1 - t, 2 - t.
std::array<double, 4> cubic_weights(double t, double a) {
  const auto near = [a](double x) { return ((a + 2) * x - (a + 3)) * x * x + 1; };
  const auto far = [a](double x) { return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a; };
  return {far(1 + t), near(t), near(1 - t), far(2 - t)};
}

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

// Sum over all combinations of one tap per axis; `read` gives the element at an index.
template <class Read>
double weighted_sum(const std::vector<const Taps*>& taps, Shape& index, std::size_t axis, const Read& read) {
  if (axis == taps.size()) return read(index);
  double sum = 0;
  for (const Tap& tap : *taps[axis]) {
    if (tap.weight == 0) continue;
    index[axis] = tap.position;
    sum += tap.weight * weighted_sum(taps, index, axis + 1, read);
  }
  return sum;
}

double resize_coordinate(const Execution& execution, std::size_t axis, double o) {
  const std::string& mode = execution.attributes.text(Attr::coordinate_mode);
  const double scale = execution.attributes.reals(Attr::scales)[axis];
  const auto from = static_cast<double>(execution.in(0).shape[axis]);
  const auto to = static_cast<double>(execution.out_shape(0)[axis]);
  if (mode == "asymmetric") return o / scale;
  if (mode == "align_corners") return to > 1 ? o * (from - 1) / (to - 1) : 0;
  if (mode == "pytorch_half_pixel") return to > 1 ? (o + 0.5) / scale - 0.5 : 0;
  if (mode == "half_pixel_symmetric") return from / 2 * (1 - to / (scale * from)) + (o + 0.5) / scale - 0.5;
  if (mode == "tf_crop_and_resize") {
    const auto& region = execution.attributes.reals(Attr::roi);
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
Taps resize_taps(const Execution& execution, double x, std::int64_t size) {
  const Attributes& attributes = execution.attributes;
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

Array execute_resize(const Execution& execution) {
  const Array& from = execution.in(0);
  Array to = Array::zeros(execution.out_shape(0));
  if (to.values.empty()) return to;
  const bool crops = execution.attributes.text(Attr::coordinate_mode) == "tf_crop_and_resize";
  std::vector<std::vector<Taps>> taps(to.shape.size());  // by axis and position; empty: beyond the region
  for (std::size_t axis = 0; axis < to.shape.size(); ++axis) {
    const std::int64_t size = from.shape[axis];
    for (std::int64_t o = 0; o < to.shape[axis]; ++o) {
      const double x = resize_coordinate(execution, axis, static_cast<double>(o));
      const bool beyond = crops && (x < 0 || x > static_cast<double>(size - 1));
      taps[axis].push_back(beyond ? Taps{} : resize_taps(execution, x, size));
    }
  }
  const auto read = [&](const Shape& index) {
    return from.values[static_cast<std::size_t>(offset(from.shape, index))];
  };
  std::size_t at = 0;
  for (IndexCounter i(to.shape); i.more(); i.next()) {
    std::vector<const Taps*> chosen;
    for (std::size_t axis = 0; axis < taps.size(); ++axis) {
      chosen.push_back(&taps[axis][static_cast<std::size_t>(i[axis])]);
    }
    const bool beyond = std::ranges::any_of(chosen, [](const Taps* t) { return t->empty(); });
    Shape index(from.shape.size());
    to.values[at++] =
        beyond ? execution.attributes.real(Attr::extrapolation_value) : weighted_sum(chosen, index, 0, read);
  }
  return to;
}

namespace {

// Back and forth between the ends until it lies between them.
double reflected(double x, double low, double high) {
  const double range = high - low;
  if (range <= 0) return low;
  const double distance = std::fmod(std::abs(x - low), 2 * range);
  return low + (distance <= range ? distance : 2 * range - distance);
}

struct GridAxis {
  std::int64_t size;
  bool align_corners;
  std::string padding;

  double low() const { return align_corners ? 0.0 : -0.5; }
  double high() const { return static_cast<double>(size) - (align_corners ? 1.0 : 0.5); }

  // Position in elements of a grid coordinate, -1 and 1 being the ends of the axis.
  double position(double coordinate) const {
    const auto length = static_cast<double>(size);
    return align_corners ? (coordinate + 1) / 2 * (length - 1) : ((coordinate + 1) * length - 1) / 2;
  }
  double padded(double x) const {
    if (padding == "border") return std::clamp(x, 0.0, static_cast<double>(size - 1));
    if (padding == "reflection") return reflected(x, low(), high());
    return std::clamp(x, -1e15, 1e15);
  }
  // -1: outside, where zeros are.
  std::int64_t element(std::int64_t at) const {
    if (at >= 0 && at < size) return at;
    if (padding == "zeros") return -1;
    if (padding == "border") return std::clamp<std::int64_t>(at, 0, size - 1);
    const double x = reflected(static_cast<double>(at), low(), high());
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(x), 0, size - 1);
  }
  Taps taps(const std::string& mode, double coordinate) const {
    const double x = std::isfinite(coordinate) ? position(coordinate) : low();
    if (mode == "nearest") return {{element(static_cast<std::int64_t>(padded(std::nearbyint(x)))), 1.0}};
    // Cubic taps beyond a border are put right one by one, as PyTorch and onnxruntime do.
    const bool cubic = mode == "cubic";
    const double start = cubic && padding == "border" ? std::clamp(x, -1e15, 1e15) : padded(x);
    Taps result = cubic ? cubic_taps(start, -0.75) : linear_taps(start);
    for (Tap& tap : result) tap.position = element(tap.position);
    return result;
  }
};

}  // namespace

Array execute_grid_sample(const Execution& execution) {
  const Array& image = execution.in(0);
  const Array& grid = execution.in(1);
  const std::size_t rank = image.shape.size();
  Array to = Array::zeros(execution.out_shape(0));
  const auto read = [&](const Shape& index) {
    if (std::ranges::any_of(index, [](std::int64_t position) { return position < 0; })) return 0.0;
    return image.values[static_cast<std::size_t>(offset(image.shape, index))];
  };
  std::size_t at = 0;
  for (IndexCounter i(to.shape); i.more(); i.next()) {
    std::vector<Taps> taps = {{{i[0], 1.0}}, {{i[1], 1.0}}};
    Shape grid_index = {i[0]};
    for (std::size_t axis = 2; axis < rank; ++axis) grid_index.push_back(i[axis]);
    grid_index.push_back(0);
    for (std::size_t axis = 2; axis < rank; ++axis) {
      grid_index.back() = static_cast<std::int64_t>(rank - 1 - axis);  // the grid names the last axis first
      const GridAxis along{image.shape[axis], execution.attributes.integer(Attr::align_corners) != 0,
                           execution.attributes.text(Attr::padding_mode)};
      taps.push_back(along.taps(execution.attributes.text(Attr::mode),
                                grid.values[static_cast<std::size_t>(offset(grid.shape, grid_index))]));
    }
    std::vector<const Taps*> chosen;
    for (const Taps& axis_taps : taps) chosen.push_back(&axis_taps);
    Shape index(rank);
    to.values[at++] = weighted_sum(chosen, index, 0, read);
  }
  return to;
}

}  // namespace monet
