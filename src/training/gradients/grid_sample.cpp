#include "training/gradients/grid_sample.h"

#include <algorithm>

namespace monet::training {

namespace {

// An element along one axis that a sample is made of; all tensors are B x 1 x samples.
struct Neighbour {
  TensorId position;  // 64-bit integers inside the axis
  TensorId weight;    // 0 where the element lies outside and zeros are there
  TensorId slope;     // d(weight) / d(grid coordinate)
};

// A position along an axis, and its derivative by the grid coordinate.
struct Position {
  TensorId value;
  TensorId slope;
};

class AxisSampling {
 public:
  AxisSampling(GradientBuilder& g, std::int64_t size, TensorId coordinate)
      : g_(g),
        size_(static_cast<double>(size)),
        align_(g.attributes().integer(Attr::align_corners) != 0),
        padding_(g.attributes().text(Attr::padding_mode)),
        coordinate_(coordinate) {}

  std::vector<Neighbour> neighbours() {
    const double factor = align_ ? (size_ - 1) / 2 : size_ / 2;
    const TensorId raw = g_.plus(g_.times(coordinate_, factor), (size_ - 1) / 2);
    if (g_.attributes().text(Attr::mode) == "nearest") {
      const Position at = padded({g_.add(Op::Round, {raw}), real(0)});
      return {neighbour(at.value, real(1), real(0))};
    }
    const Position at = padded({raw, real(factor)});
    const TensorId first = g_.add(Op::Floor, {at.value});
    const TensorId beyond = g_.minus(at.value, first);
    return {neighbour(first, g_.minus(1, beyond), g_.negative(at.slope)),
            neighbour(g_.plus(first, 1), beyond, at.slope)};
  }

 private:
  TensorId real(double value) { return g_.scalar(value, coordinate_); }
  TensorId is(Op comparison, TensorId a, double b) { return g_.add(comparison, {a, real(b)}); }
  TensorId clipped(TensorId a) { return g_.add(Op::Min, {g_.add(Op::Max, {a, real(0)}), real(size_ - 1)}); }
  TensorId inside(TensorId a, Op above, Op below) {
    return g_.cast(g_.add(Op::And, {is(above, a, 0), is(below, a, size_ - 1)}), g_.type(coordinate_));
  }

  Position padded(const Position& at) {
    if (padding_ == "border") {
      return {clipped(at.value), g_.times(inside(at.value, Op::Greater, Op::Less), at.slope)};
    }
    return padding_ == "reflection" ? reflected(at) : at;
  }

  // Back and forth between the ends until it lies between them.
  Position reflected(const Position& at) {
    const double low = align_ ? 0.0 : -0.5;
    const double range = align_ ? size_ - 1 : size_;
    if (range <= 0) return {g_.times(at.value, 0), real(0)};
    const TensorId from_low = g_.plus(at.value, -low);
    const TensorId distance =
        g_.add(Op::Mod, {g_.add(Op::Abs, {from_low}), real(2 * range)}, {{Attr::fmod, std::int64_t{1}}});
    const TensorId forth = is(Op::LessOrEqual, distance, range);
    const TensorId value = g_.plus(g_.where(forth, distance, g_.minus(2 * range, distance)), low);
    const TensorId direction = g_.times(g_.add(Op::Sign, {from_low}), g_.where(forth, real(1), real(-1)));
    return {value, g_.times(direction, at.slope)};
  }

  Neighbour neighbour(TensorId at, TensorId weight, TensorId slope) {
    if (padding_ == "zeros") {
      const TensorId exists = inside(at, Op::GreaterOrEqual, Op::LessOrEqual);
      weight = g_.times(exists, weight);
      slope = g_.times(exists, slope);
    }
    return {g_.cast(clipped(at), ElementType::int64), weight, slope};
  }

  GradientBuilder& g_;
  double size_;
  bool align_;
  std::string padding_;
  TensorId coordinate_;
};

// One element of the image that a sample is made of: one neighbour along each axis.
class Corner {
 public:
  Corner(GradientBuilder& g, std::vector<const Neighbour*> neighbours) : g_(g), neighbours_(std::move(neighbours)) {}

  // Position in the flattened image.
  TensorId position() {
    const Shape image = g_.input_shape(0);
    TensorId result = neighbours_[0]->position;
    for (std::size_t i = 1; i < neighbours_.size(); ++i) {
      result = g_.plus(g_.times(result, static_cast<double>(image[i + 2])), neighbours_[i]->position);
    }
    return result;
  }

  TensorId weight() { return product_with(neighbours_.size()); }
  // d(weight) / d(grid coordinate of that axis)
  TensorId slope(std::size_t axis) { return product_with(axis); }

 private:
  TensorId product_with(std::size_t slope_axis) {
    TensorId result;
    for (std::size_t i = 0; i < neighbours_.size(); ++i) {
      const TensorId factor = i == slope_axis ? neighbours_[i]->slope : neighbours_[i]->weight;
      result = result.valid() ? g_.times(result, factor) : factor;
    }
    return result;
  }

  GradientBuilder& g_;
  std::vector<const Neighbour*> neighbours_;
};

std::vector<Corner> corners_of(GradientBuilder& g, const std::vector<std::vector<Neighbour>>& axes) {
  std::vector<std::vector<const Neighbour*>> chosen = {{}};
  for (const std::vector<Neighbour>& axis : axes) {
    std::vector<std::vector<const Neighbour*>> longer;
    for (const auto& each : chosen) {
      for (const Neighbour& neighbour : axis) {
        longer.push_back(each);
        longer.back().push_back(&neighbour);
      }
    }
    chosen = std::move(longer);
  }
  std::vector<Corner> corners;
  for (auto& each : chosen) corners.emplace_back(g, std::move(each));
  return corners;
}

const Attributes last_axis = {{Attr::axis, std::int64_t{2}}, {Attr::reduction, std::string("add")}};

}  // namespace

// Y = Σ over corners of weight · X[position]:
// dX[position] += weight · dY, dgrid = Σ over corners and channels of dweight/dgrid · X[position] · dY
void grid_sample(GradientBuilder& g) {
  if (g.attributes().text(Attr::mode) == "cubic") {
    return g.fail("cubic sampling cannot be differentiated", "use the mode 'linear'");
  }
  const Shape image = g.input_shape(0);
  const Shape grid = g.input_shape(1);
  const auto axes = image.size() - 2;
  const std::int64_t samples = element_count(std::span(grid).subspan(1, axes));
  const Shape flat_image = {image[0], image[1], element_count(std::span(image).subspan(2))};
  const Shape flat_output = {image[0], image[1], samples};
  if (element_count(flat_output) == 0) return;
  g.keep(g.input(0));

  std::vector<std::vector<Neighbour>> neighbours;
  for (std::size_t axis = 0; axis < axes; ++axis) {
    // The grid names the last axis first.
    const auto at = static_cast<std::int64_t>(axes - 1 - axis);
    const TensorId coordinate = g.slice(g.input(1), static_cast<std::int64_t>(axes) + 1, at, 1);
    neighbours.push_back(AxisSampling(g, image[axis + 2], g.reshape(coordinate, {image[0], 1, samples})).neighbours());
  }
  const TensorId dy = g.reshape(g.output_gradient(), flat_output);
  std::vector<TensorId> positions;
  std::vector<TensorId> updates;
  std::vector<std::vector<TensorId>> grid_parts(axes);
  for (Corner& corner : corners_of(g, neighbours)) {
    const TensorId position = g.expand(corner.position(), flat_output);
    positions.push_back(position);
    if (g.needs(0)) updates.push_back(g.times(dy, g.cast(corner.weight(), g.type(dy))));
    if (!g.needs(1)) continue;
    const TensorId element =
        g.add(Op::GatherElements, {g.reshape(g.input(0), flat_image), position}, {{Attr::axis, std::int64_t{2}}});
    const TensorId reached = g.cast(g.reduce_sum(g.times(dy, element), {1}, true), g.input_type(1));
    for (std::size_t axis = 0; axis < axes; ++axis) {
      grid_parts[axis].push_back(g.times(reached, corner.slope(axis)));
    }
  }
  if (g.needs(0)) {
    const TensorId sums = g.add(
        Op::ScatterElements,
        {g.fill(0, flat_image, g.input_type(0)), g.concat(std::move(positions), 2), g.concat(std::move(updates), 2)},
        last_axis);
    g.accumulate(0, g.reshape(sums, image));
  }
  if (g.needs(1)) {
    Shape column = grid;
    column.back() = 1;
    std::vector<TensorId> columns;
    for (std::size_t axis = axes; axis-- > 0;) columns.push_back(g.reshape(sum_parts(g, grid_parts[axis]), column));
    g.accumulate(1, g.concat(std::move(columns), static_cast<std::int64_t>(axes) + 1));
  }
}

}  // namespace monet::training
