#include "training/gradient_builder.h"
#include "training/gradients/padding.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

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

// Y = Σ over corners of weight · X[position]:
// dX[position] += weight · dY, dgrid = Σ over corners and channels of dweight/dgrid · X[position] · dY
// The gradient of GridSample.
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

const std::string add = "add";

TensorId zeros_like_input(GradientBuilder& g, std::size_t input) {
  return g.fill(0, g.input_shape(input), g.input_type(input));
}

// Tuples that name a place along every axis from the first on: before those given stand the batch's own positions.
TensorId whole_tuples(GradientBuilder& g, std::size_t batch_axes) {
  const TensorId tuples = g.input(1);
  if (batch_axes == 0) return tuples;
  const auto type = static_cast<std::int64_t>(g.input_type(1));
  Shape column = g.input_shape(1);
  column.back() = 1;
  std::vector<TensorId> parts;
  for (std::size_t axis = 0; axis < batch_axes; ++axis) {
    const TensorId positions = g.add(
        Op::Range, {}, {{Attr::shape, Shape{column[axis]}}, {Attr::start, 0.0}, {Attr::delta, 1.0}, {Attr::to, type}});
    Shape along(column.size(), 1);
    along[axis] = column[axis];
    parts.push_back(g.expand(g.reshape(positions, std::move(along)), column));
  }
  parts.push_back(tuples);
  return g.concat(std::move(parts), static_cast<std::int64_t>(column.size()) - 1);
}

// Whether updates are added to the data; else they replace elements of it.
bool only_added(GradientBuilder& g) {
  const std::string& reduction = g.attributes().text(Attr::reduction);
  if (reduction != "none" && reduction != add) {
    g.fail(fmt::format("the reduction '{}' cannot be differentiated", reduction), "use 'none' or 'add'");
  }
  return reduction == add;
}

// dX[indices] += dY
void gather(GradientBuilder& g) {
  g.accumulate(0, g.add(Op::GatherGrad, {g.output_gradient(), g.input(1)},
                        {{Attr::axis, g.attributes().integer(Attr::axis)}, {Attr::shape, g.input_shape(0)}}));
}

void gather_elements(GradientBuilder& g) {
  g.keep(g.input(0));
  g.accumulate(0, g.add(Op::ScatterElements, {zeros_like_input(g, 0), g.input(1), g.output_gradient()},
                        {{Attr::axis, g.attributes().integer(Attr::axis)}, {Attr::reduction, add}}));
}

void gather_nd(GradientBuilder& g) {
  const TensorId tuples = whole_tuples(g, static_cast<std::size_t>(g.attributes().integer(Attr::batch_dims)));
  g.accumulate(0,
               g.add(Op::ScatterND, {zeros_like_input(g, 0), tuples, g.output_gradient()}, {{Attr::reduction, add}}));
}

// ddata = dY, but 0 where an update replaced an element; dupdates = dY[indices]
void scatter_elements(GradientBuilder& g) {
  const Attributes axis = {{Attr::axis, g.attributes().integer(Attr::axis)}};
  const TensorId dy = g.output_gradient();
  if (only_added(g)) {
    g.accumulate(0, dy);
  } else if (g.needs(0)) {
    g.accumulate(0, g.add(Op::ScatterElements, {dy, g.input(1), zeros_like_input(g, 2)}, g.attributes()));
  }
  if (g.needs(2)) g.accumulate(2, g.add(Op::GatherElements, {dy, g.input(1)}, axis));
}

void scatter_nd(GradientBuilder& g) {
  const TensorId dy = g.output_gradient();
  if (only_added(g)) {
    g.accumulate(0, dy);
  } else if (g.needs(0)) {
    g.accumulate(0, g.add(Op::ScatterND, {dy, g.input(1), zeros_like_input(g, 2)}, g.attributes()));
  }
  if (g.needs(2)) g.accumulate(2, g.add(Op::GatherND, {dy, g.input(1)}, {{Attr::batch_dims, std::int64_t{0}}}));
}

using Integers = std::vector<std::int64_t>;

// dX = the sum of the copies
void tile(GradientBuilder& g) {
  const Integers& repeats = g.attributes().integers(Attr::repeats);
  const Shape from = g.input_shape();
  Shape apart;  // each repeated axis as copies and elements
  Integers copies;
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (repeats[i] != 1) {
      copies.push_back(static_cast<std::int64_t>(apart.size()));
      apart.push_back(repeats[i]);
    }
    apart.push_back(from[i]);
  }
  g.accumulate(0, g.reduce_sum(g.reshape(g.output_gradient(), std::move(apart)), std::move(copies), false));
}

// dX = the same triangle of dY
void trilu(GradientBuilder& g) { g.accumulate(0, g.add(Op::Trilu, {g.output_gradient()}, g.attributes())); }

void resize(GradientBuilder& g) {
  Attributes attributes = g.attributes();
  attributes.set(Attr::shape, g.input_shape());
  g.accumulate(0, g.add(Op::ResizeGrad, {g.output_gradient()}, std::move(attributes)));
}

// Y = off + (on − off) · hot:  don = Σ dY · hot, doff = Σ dY − don
void one_hot(GradientBuilder& g) {
  if (!g.needs(1)) return;
  const TensorId dy = g.output_gradient();
  const TensorId pair = g.builder().constant("off_and_on", Constant::reals(g.input_type(1), {2}, {0, 1}));
  const TensorId hot = g.add(Op::OneHot, {g.input(0), pair}, g.attributes());
  Integers axes(g.output_shape().size());
  std::iota(axes.begin(), axes.end(), 0);
  const TensorId on = g.reduce_sum(g.times(dy, hot), axes, false);
  const TensorId off = g.minus(g.reduce_sum(dy, axes, false), on);
  g.accumulate(1, g.concat({g.reshape(off, {1}), g.reshape(on, {1})}, 0));
}

// dX = dY reversed again
void reverse_sequence(GradientBuilder& g) {
  g.accumulate(0, g.add(Op::ReverseSequence, {g.output_gradient(), g.input(1)}, g.attributes()));
}

// dX = dY at the indices, which count through all of Y
void max_unpool(GradientBuilder& g) {
  const TensorId flat = g.reshape(g.output_gradient(), {element_count(g.output_shape())});
  g.accumulate(0, g.add(Op::Gather, {flat, g.input(1)}, {{Attr::axis, std::int64_t{0}}}));
}

}  // namespace

GradientRule movement_gradient(Op op) {
  switch (op) {
    case Op::Pad: return pad;
    case Op::Tile: return tile;
    case Op::Gather: return gather;
    case Op::GatherElements: return gather_elements;
    case Op::GatherND: return gather_nd;
    case Op::ScatterElements: return scatter_elements;
    case Op::ScatterND: return scatter_nd;
    case Op::Trilu: return trilu;
    case Op::Resize: return resize;
    case Op::GridSample: return grid_sample;
    case Op::OneHot: return one_hot;
    case Op::ReverseSequence: return reverse_sequence;
    case Op::MaxUnpool: return max_unpool;
    default: return nullptr;
  }
}

}  // namespace monet::training
