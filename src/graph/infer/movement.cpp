#include "graph/infer.h"

#include "base/checked.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>

namespace monet {

namespace {

// More resampled axes than this have no use, and the taps of one element (4 to that power) stay countable.
constexpr std::size_t max_resampled_axes = 8;

Error misfit(const OperatorTypes& operation, std::string_view what) {
  std::string shapes;
  for (std::size_t i = 0; i < operation.inputs.size(); ++i) {
    if (!operation.has(i)) continue;
    shapes += (shapes.empty() ? "" : ", ") + to_string(operation.shape(i));
  }
  return shape_error(fmt::format("{} of {}: {}", name_of(operation.op), shapes, what));
}

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, text) != names.end();
}

Error unknown(const OperatorTypes& operation, Attr key) {
  return shape_error(
      fmt::format("{} has no {} '{}'", name_of(operation.op), name_of(key), operation.attributes.text(key)));
}

// Attr::axis as an axis of a tensor of that rank.
std::optional<std::size_t> axis_below(const OperatorTypes& operation, std::size_t rank, Attr key = Attr::axis) {
  const std::int64_t axis = operation.attributes.integer(key);
  if (axis < 0 || axis >= static_cast<std::int64_t>(rank)) return std::nullopt;
  return static_cast<std::size_t>(axis);
}

Error no_such_axis(const OperatorTypes& operation, Attr key = Attr::axis) {
  return misfit(operation, fmt::format("there is no axis {}", operation.attributes.integer(key)));
}

std::optional<Error> check_indices(const OperatorTypes& operation) {
  const ElementType type = operation.format(1).element;
  if (is_integer(type)) return std::nullopt;
  return misfit(operation, fmt::format("its indices are {}, not integers", name_of(type)));
}

Expected<Types> infer_pad(const OperatorTypes& operation) {
  const Shape& from = operation.shape(0);
  const auto& pads = operation.attributes.integers(Attr::pads);
  const std::string& mode = operation.attributes.text(Attr::mode);
  if (!is_one_of(mode, {"constant", "reflect", "edge", "wrap"})) return unknown(operation, Attr::mode);
  if (pads.size() != 2 * from.size()) {
    return misfit(operation, fmt::format("{} pads are given where {} are needed", pads.size(), 2 * from.size()));
  }
  if (operation.has(1) && element_count(operation.shape(1)) != 1) return misfit(operation, "its value is not a scalar");
  Shape to;
  for (std::size_t axis = 0; axis < from.size(); ++axis) {
    const std::int64_t begin = pads[axis];
    const std::int64_t end = pads[axis + from.size()];
    const auto front = checked_add(from[axis], begin);
    const auto size = front ? checked_add(*front, end) : std::nullopt;
    // What is cropped comes off first; the rest must have something to repeat.
    const auto kept = checked_add(from[axis], std::min<std::int64_t>(begin, 0));
    const auto left = kept ? checked_add(*kept, std::min<std::int64_t>(end, 0)) : std::nullopt;
    if (!size || *size < 0 || !left || *left < 0 || (mode != "constant" && *left == 0 && *size > 0)) {
      return misfit(operation,
                    fmt::format("{} pads of {} and {} along axis {} are not possible", mode, begin, end, axis));
    }
    to.push_back(*size);
  }
  return Types{{std::move(to), operation.format(0)}};
}

Expected<Types> infer_tile(const OperatorTypes& operation) {
  const auto& repeats = operation.attributes.integers(Attr::repeats);
  Shape to = operation.shape(0);
  bool fits = repeats.size() == to.size();
  for (std::size_t axis = 0; fits && axis < to.size(); ++axis) {
    const auto size = repeats[axis] >= 0 ? checked_multiply(to[axis], repeats[axis]) : std::nullopt;
    fits = size.has_value();
    to[axis] = size.value_or(0);
  }
  if (!fits) return misfit(operation, fmt::format("it cannot be repeated [{}] times", fmt::join(repeats, ", ")));
  return Types{{std::move(to), operation.format(0)}};
}

// The table with indices in place of one axis.
Shape gathered(const Shape& table, const Shape& indices, std::size_t axis) {
  Shape to(table.begin(), table.begin() + static_cast<std::ptrdiff_t>(axis));
  to.insert(to.end(), indices.begin(), indices.end());
  to.insert(to.end(), table.begin() + static_cast<std::ptrdiff_t>(axis) + 1, table.end());
  return to;
}

Expected<Types> infer_gather(const OperatorTypes& operation) {
  const auto axis = axis_below(operation, operation.shape(0).size());
  if (!axis) return no_such_axis(operation);
  return Types{{gathered(operation.shape(0), operation.shape(1), *axis), operation.format(0)}};
}

Expected<Types> infer_gather_gradient(const OperatorTypes& operation) {
  const Shape& table = operation.attributes.integers(Attr::shape);
  const auto axis = axis_below(operation, table.size());
  if (!axis) return no_such_axis(operation);
  const Shape wanted = gathered(table, operation.shape(1), *axis);
  if (operation.shape(0) != wanted) {
    return misfit(operation,
                  fmt::format("the gradient must be {} for a table of {}", to_string(wanted), to_string(table)));
  }
  return Types{{table, operation.format(0)}};
}

// GatherElements and ScatterElements: indices lie inside the data but along the axis, where they may be longer.
std::optional<Error> check_element_indices(const OperatorTypes& operation) {
  const Shape& data = operation.shape(0);
  const Shape& indices = operation.shape(1);
  const auto axis = axis_below(operation, data.size());
  if (!axis) return no_such_axis(operation);
  bool fits = data.size() == indices.size();
  for (std::size_t i = 0; fits && i < data.size(); ++i) fits = i == *axis || indices[i] <= data[i];
  if (!fits) return misfit(operation, fmt::format("the indices do not fit the data along axis {}", *axis));
  return std::nullopt;
}

std::optional<Error> check_scatter_reduction(const OperatorTypes& operation) {
  if (is_one_of(operation.attributes.text(Attr::reduction), {"none", "add", "mul", "max", "min"})) return std::nullopt;
  return unknown(operation, Attr::reduction);
}

Expected<Types> infer_elements(const OperatorTypes& operation) {
  if (auto error = check_element_indices(operation)) return *error;
  if (operation.op == Op::GatherElements) return Types{{operation.shape(1), operation.format(0)}};
  if (auto error = check_scatter_reduction(operation)) return *error;
  if (operation.shape(1) != operation.shape(2)) return misfit(operation, "indices and updates differ");
  return Types{*operation.inputs[0]};
}

// Where the last axis of the indices names positions along the data's axes from `batch_axes`: the shape of what is
// named, indices[:-1] and the axes that are left over.
Expected<Shape> named_by_tuples(const OperatorTypes& operation, std::int64_t batch_axes) {
  const Shape& data = operation.shape(0);
  const Shape& indices = operation.shape(1);
  const auto rank = static_cast<std::int64_t>(data.size());
  const auto index_rank = static_cast<std::int64_t>(indices.size());
  if (index_rank == 0 || batch_axes < 0 || batch_axes >= index_rank || batch_axes > rank) {
    return misfit(operation, fmt::format("{} batch axes are not possible", batch_axes));
  }
  const std::int64_t length = indices.back();
  if (length < 1 || length > rank - batch_axes) {
    return misfit(operation, fmt::format("indices of {} numbers do not fit the data", length));
  }
  if (!std::equal(data.begin(), data.begin() + batch_axes, indices.begin())) {
    return misfit(operation, "the batch axes of data and indices differ");
  }
  Shape shape(indices.begin(), indices.end() - 1);
  shape.insert(shape.end(), data.begin() + batch_axes + length, data.end());
  return shape;
}

Expected<Types> infer_gather_nd(const OperatorTypes& operation) {
  auto shape = named_by_tuples(operation, operation.attributes.integer(Attr::batch_dims));
  if (!shape) return shape.error();
  return Types{{std::move(*shape), operation.format(0)}};
}

Expected<Types> infer_scatter_nd(const OperatorTypes& operation) {
  const auto shape = named_by_tuples(operation, 0);
  if (!shape) return shape.error();
  if (auto error = check_scatter_reduction(operation)) return *error;
  if (operation.shape(2) != *shape) {
    return misfit(operation, fmt::format("the updates must be {}", to_string(*shape)));
  }
  return Types{*operation.inputs[0]};
}

std::optional<Error> check_resize_words(const OperatorTypes& operation) {
  const Attributes& attributes = operation.attributes;
  if (!is_one_of(attributes.text(Attr::mode), {"nearest", "linear", "cubic"})) return unknown(operation, Attr::mode);
  if (!is_one_of(attributes.text(Attr::coordinate_mode), {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel",
                                                          "align_corners", "asymmetric", "tf_crop_and_resize"})) {
    return unknown(operation, Attr::coordinate_mode);
  }
  if (!is_one_of(attributes.text(Attr::nearest_mode), {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"})) {
    return unknown(operation, Attr::nearest_mode);
  }
  if (attributes.integer(Attr::antialias) != 0) return misfit(operation, "antialiasing is not supported");
  return std::nullopt;
}

Expected<Types> infer_resize(const OperatorTypes& operation) {
  if (auto error = check_resize_words(operation)) return *error;
  const Shape& from = operation.shape(0);
  const Shape& to = operation.attributes.integers(Attr::shape);
  const auto& scales = operation.attributes.reals(Attr::scales);
  const auto& region = operation.attributes.reals(Attr::roi);
  const bool crops = operation.attributes.text(Attr::coordinate_mode) == "tf_crop_and_resize";
  if (to.size() != from.size() || scales.size() != from.size()) {
    return misfit(operation, fmt::format("{} scales and a result of {} do not fit", scales.size(), to_string(to)));
  }
  if (crops && region.size() != 2 * from.size()) {
    return misfit(operation,
                  fmt::format("its region has {} numbers where {} are needed", region.size(), 2 * from.size()));
  }
  if (!std::ranges::all_of(region, [](double x) { return std::isfinite(x); })) {
    return misfit(operation, "its region is not finite");
  }
  std::size_t resampled = 0;
  for (std::size_t axis = 0; axis < from.size(); ++axis) {
    if (!(scales[axis] > 0) || !std::isfinite(scales[axis])) {
      return misfit(operation, fmt::format("a scale of {} is not possible", scales[axis]));
    }
    if ((from[axis] == 0) != (to[axis] == 0) || to[axis] < 0) {
      return misfit(operation, fmt::format("it cannot become {}", to_string(to)));
    }
    if (from[axis] != to[axis] || scales[axis] != 1 || crops) ++resampled;
  }
  if (resampled > max_resampled_axes && operation.attributes.text(Attr::mode) != "nearest") {
    return misfit(operation, fmt::format("{} axes cannot be interpolated at once", resampled));
  }
  return Types{{to, operation.format(0)}};
}

// There must be a Resize that makes dY's shape of the shape wanted.
Expected<Types> infer_resize_gradient(const OperatorTypes& operation) {
  const TensorType input{operation.attributes.integers(Attr::shape), operation.format(0)};
  if (const std::string reason = impossible_shape(input.shape); !reason.empty()) {
    return misfit(operation, fmt::format("it cannot become {}: {}", to_string(input.shape), reason));
  }
  Attributes forward = operation.attributes;
  forward.set(Attr::shape, operation.shape(0));
  const TensorType* const inputs[] = {&input};
  const auto types = infer_resize({.op = Op::Resize, .attributes = forward, .inputs = inputs});
  if (!types) return misfit(operation, fmt::format("there is no such Resize: {}", types.error().message));
  return Types{input};
}

Expected<Types> infer_grid_sample(const OperatorTypes& operation) {
  if (!is_one_of(operation.attributes.text(Attr::mode), {"nearest", "linear", "cubic"})) {
    return unknown(operation, Attr::mode);
  }
  if (!is_one_of(operation.attributes.text(Attr::padding_mode), {"zeros", "border", "reflection"})) {
    return unknown(operation, Attr::padding_mode);
  }
  const Shape& image = operation.shape(0);
  const Shape& grid = operation.shape(1);
  if (image.size() < 3 || image.size() - 2 > max_resampled_axes || grid.size() != image.size() || grid[0] != image[0] ||
      grid.back() != static_cast<std::int64_t>(image.size()) - 2 ||
      std::ranges::any_of(image, [](std::int64_t size) { return size == 0; })) {
    return misfit(operation, "the grid does not fit the image");
  }
  Shape to = {image[0], image[1]};
  to.insert(to.end(), grid.begin() + 1, grid.end() - 1);
  return Types{{std::move(to), operation.format(0)}};
}

Expected<Types> infer_one_hot(const OperatorTypes& operation) {
  Shape to = operation.shape(0);
  const auto axis = axis_below(operation, to.size() + 1);
  if (!axis) return no_such_axis(operation);
  const std::int64_t depth = operation.attributes.integer(Attr::depth);
  if (depth < 1) return misfit(operation, fmt::format("a depth of {} is not possible", depth));
  if (operation.shape(1) != Shape{2}) return misfit(operation, "it needs two values: off and on");
  to.insert(to.begin() + static_cast<std::ptrdiff_t>(*axis), depth);
  return Types{{std::move(to), operation.format(1)}};
}

Expected<Types> infer_reverse_sequence(const OperatorTypes& operation) {
  const Shape& from = operation.shape(0);
  const auto batch = axis_below(operation, from.size(), Attr::batch_axis);
  if (!batch) return no_such_axis(operation, Attr::batch_axis);
  const auto time = axis_below(operation, from.size(), Attr::time_axis);
  if (!time) return no_such_axis(operation, Attr::time_axis);
  if (*batch == *time || operation.shape(1) != Shape{from[*batch]}) {
    return misfit(operation, fmt::format("batch axis {}, time axis {} and the lengths do not fit", *batch, *time));
  }
  return Types{*operation.inputs[0]};
}

Expected<Types> infer_max_unpool(const OperatorTypes& operation) {
  const Shape& from = operation.shape(0);
  const Shape& to = operation.attributes.integers(Attr::shape);
  const bool fits = from.size() >= 3 && operation.shape(1) == from && to.size() == from.size() && to[0] == from[0] &&
                    to[1] == from[1];
  if (!fits) return misfit(operation, fmt::format("it cannot be spread over {}", to_string(to)));
  return Types{{to, operation.format(0)}};
}

Expected<Types> infer_trilu(const OperatorTypes& operation) {
  if (operation.shape(0).size() < 2) return misfit(operation, "it needs at least two axes");
  return Types{*operation.inputs[0]};
}

}  // namespace

Expected<Types> infer_movement(const OperatorTypes& operation) {
  switch (operation.op) {
    case Op::Gather:
    case Op::GatherGrad:
    case Op::GatherElements:
    case Op::GatherND:
    case Op::ScatterElements:
    case Op::ScatterND:
    case Op::MaxUnpool:
    case Op::MaxPoolGrad:
      if (auto error = check_indices(operation)) return *error;
      break;
    default: break;
  }
  switch (operation.op) {
    case Op::Pad: return infer_pad(operation);
    case Op::Tile: return infer_tile(operation);
    case Op::Gather: return infer_gather(operation);
    case Op::GatherGrad: return infer_gather_gradient(operation);
    case Op::GatherElements:
    case Op::ScatterElements: return infer_elements(operation);
    case Op::GatherND: return infer_gather_nd(operation);
    case Op::ScatterND: return infer_scatter_nd(operation);
    case Op::Trilu: return infer_trilu(operation);
    case Op::Resize: return infer_resize(operation);
    case Op::ResizeGrad: return infer_resize_gradient(operation);
    case Op::GridSample: return infer_grid_sample(operation);
    case Op::OneHot: return infer_one_hot(operation);
    case Op::ReverseSequence: return infer_reverse_sequence(operation);
    case Op::MaxUnpool:
    case Op::MaxPoolGrad: return infer_max_unpool(operation);
    default: return shape_error(fmt::format("{} does not move data", name_of(operation.op)));
  }
}

}  // namespace monet
