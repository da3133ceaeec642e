#include "graph/nests/resize.h"

#include "base/checked.h"
#include "graph/resample.h"

#include <algorithm>
#include <cmath>

namespace monet {

namespace {

std::int64_t to_the_power(std::int64_t base, std::size_t exponent) {
  std::int64_t result = 1;
  for (std::size_t i = 0; i < exponent; ++i) result *= base;
  return result;
}

// Weighted sum of `taps` neighbours along each of `axes` axes; one tap is a copy.
Counts weighted_sum(std::int64_t taps, std::size_t axes) {
  const std::int64_t all = to_the_power(taps, axes);
  if (all == 1) return counts_of({{Count::move, 1}});
  return counts_of({{Count::multiply, all}, {Count::add, all - 1}});
}

std::int64_t taps_of(const std::string& mode) { return mode == "nearest" ? 1 : mode == "linear" ? 2 : 4; }

// Position in the input of position `o` in the output: slope * o + start, in every coordinate mode of ONNX.
struct Line {
  double slope;
  double start;
};

Line line_of(const std::string& mode, double scale, std::int64_t from, std::int64_t to) {
  const double step = 1.0 / scale;
  if (mode == "asymmetric") return {step, 0};
  if (mode == "align_corners") {
    return {to > 1 ? static_cast<double>(from - 1) / static_cast<double>(to - 1) : 0.0, 0};
  }
  if (mode == "pytorch_half_pixel" && to <= 1) return {step, 0};
  double start = 0.5 * step - 0.5;
  if (mode == "half_pixel_symmetric") {
    const double width = static_cast<double>(from);
    start += width / 2 * (1 - static_cast<double>(to) / (scale * width));
  }
  return {step, start};
}

// Whole numbers that double arithmetic missed by a hair are put right first.
double snapped(double x) { return std::abs(x - std::round(x)) < 1e-6 ? std::round(x) : x; }

// The neighbours read along one axis, as floor((from * o + offset) / to) and `span` elements from there.
//
// The line is compared with from / to * o: their difference is largest or smallest at an end of the axis, so that two
// offsets enclose every position. Both are whole numbers over `to`, hence exact for scales that are to / from.
AxisIndex neighbours(const Attributes& attributes, std::size_t axis, std::int64_t from, std::int64_t to) {
  constexpr double limit = 1e15;
  const double size = static_cast<double>(to);
  if (static_cast<double>(from) * size > limit) return at_any(from);
  const std::string& mode = attributes.text(Attr::mode);
  const std::string& rounding = attributes.text(Attr::nearest_mode);
  const Line line = line_of(attributes.text(Attr::coordinate_mode), attributes.reals(Attr::scales)[axis], from, to);
  const double first = line.start * size;
  const double last = first + (line.slope * size - static_cast<double>(from)) * (size - 1);
  if (!(std::abs(first) < limit) || !(std::abs(last) < limit)) return at_any(from);

  const bool nearest = mode == "nearest";
  const bool rounds_up = nearest && (rounding == "ceil" || rounding == "round_prefer_floor");
  const double shift = !nearest || rounding == "floor" || rounding == "ceil" ? 0.0 : rounds_up ? -0.5 : 0.5;
  const auto whole = [&](double x) {
    const double numerator = snapped(x + shift * size);
    return rounds_up ? static_cast<std::int64_t>(std::ceil(numerator)) + to - 1
                     : static_cast<std::int64_t>(std::floor(numerator));
  };
  const std::int64_t low = whole(std::min(first, last));
  const std::int64_t high = whole(std::max(first, last));
  AxisIndex index = at_loop(axis, from, low);
  index.divisor = to;
  index.span = ceil_divide(high - low, to) + taps_of(mode);
  if (mode == "cubic") index.offset -= to;

  // Positions beyond an end are read at the end: the first and last points must reach it.
  const std::int64_t begin = floor_divide(index.offset, to);
  if (begin + index.span < 1) index.span = 1 - begin;
  const std::int64_t beyond = floor_divide((to - 1) * from + index.offset, to) - (from - 1);
  if (beyond > 0) {
    index.offset -= beyond * to;
    index.span += beyond;
  }
  return index.span >= from ? at_any(from) : index;
}

// Where the original lies that each element of the result comes from.
struct Resampling {
  std::vector<AxisIndex> axes;
  std::size_t resampled = 0;
};

Resampling resampling(const Attributes& attributes, const Shape& from, const Shape& to) {
  const bool crops = attributes.text(Attr::coordinate_mode) == "tf_crop_and_resize";
  Resampling result;
  for (std::size_t axis = 0; axis < from.size(); ++axis) {
    if (!resamples(attributes, axis, from[axis], to[axis])) {
      result.axes.push_back(at_loop(axis));
      continue;
    }
    ++result.resampled;
    const bool unknown = crops || to[axis] == 0;
    result.axes.push_back(unknown ? at_any(from[axis]) : neighbours(attributes, axis, from[axis], to[axis]));
  }
  return result;
}

}  // namespace

OperatorNests resize_nests(const OperatorSite& site) {
  const Shape& to = site.out(0);
  Resampling input = resampling(site.attributes, site.in(0), to);
  Nest nest{.loops = loops_over(to),
            .reads = {read_input(0, std::move(input.axes))},
            .writes = {write_output(0, identity_axes(to.size()))},
            .per_point = weighted_sum(taps_of(site.attributes.text(Attr::mode)), input.resampled)};
  return {.nests = {std::move(nest)}, .scratch = {}};
}

// Zeros everywhere, then every element of dY is added, weighted, to the elements that made it.
OperatorNests resize_gradient_nests(const OperatorSite& site) {
  const Shape& from = site.out(0);
  const Shape& to = site.in(0);
  Resampling target = resampling(site.attributes, from, to);
  const std::int64_t taps = to_the_power(taps_of(site.attributes.text(Attr::mode)), target.resampled);
  Nest zero{.loops = loops_over(from),
            .reads = {},
            .writes = {write_output(0, identity_axes(from.size()))},
            .per_point = counts_of({{Count::move, 1}})};
  Nest spread{.loops = loops_over(to),
              .reads = {read_input(0, identity_axes(to.size()))},
              .writes = {write_output(0, std::move(target.axes), true)},
              .per_point = counts_of({{Count::multiply, taps == 1 ? 0 : taps}, {Count::add, taps}})};
  return {.nests = {std::move(zero), std::move(spread)}, .scratch = {}};
}

OperatorNests grid_sample_nests(const OperatorSite& site) {
  const Shape& image = site.in(0);
  const std::size_t spatial = image.size() - 2;
  std::vector<AxisIndex> image_axes = {at_loop(0), at_loop(1)};
  std::vector<AxisIndex> grid_axes = {at_loop(0)};
  for (std::size_t axis = 2; axis < image.size(); ++axis) {
    image_axes.push_back(at_any(image[axis]));
    grid_axes.push_back(at_loop(axis));
  }
  AxisIndex coordinates = at_zero();
  coordinates.span = static_cast<std::int64_t>(spatial);
  grid_axes.push_back(coordinates);
  Counts counts = weighted_sum(taps_of(site.attributes.text(Attr::mode)), spatial);
  counts[Count::round] += static_cast<std::int64_t>(spatial);
  Nest nest{.loops = loops_over(site.out(0)),
            .reads = {read_input(0, std::move(image_axes)), read_input(1, std::move(grid_axes))},
            .writes = {write_output(0, identity_axes(image.size()))},
            .per_point = counts};
  return {.nests = {std::move(nest)}, .scratch = {}};
}

}  // namespace monet
