#include "interpret/resample.h"

#include "graph/resample.h"

#include <algorithm>
#include <cmath>

namespace monet {

namespace {

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

}  // namespace

Array execute_resize(const Execution& execution) {
  const Array& from = execution.in(0);
  Array to = Array::zeros(execution.out_shape(0));
  if (to.values.empty()) return to;
  std::vector<std::vector<Taps>> taps;  // by axis and position; empty: beyond the region
  for (std::size_t axis = 0; axis < to.shape.size(); ++axis) {
    taps.push_back(resize_taps(execution.attributes, axis, from.shape[axis], to.shape[axis]));
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
