#include "graph/infer.h"

#include "base/checked.h"

#include <fmt/format.h>

#include <algorithm>

namespace monet {

namespace {

constexpr std::size_t max_parts = 65536;

Expected<Types> infer_reshape(const OperatorTypes& operation) {
  const Shape& from = operation.shape(0);
  const Shape& to = operation.attributes.integers(Attr::shape);
  const bool sizes_valid = std::ranges::all_of(to, [](std::int64_t size) { return size >= 0; });
  const auto count = checked_product(to);
  if (!sizes_valid || !count || *count != element_count(from)) {
    return shape_error(
        fmt::format("Reshape cannot turn {} into {}: the numbers of elements differ", to_string(from), to_string(to)));
  }
  return Types{{to, operation.format(0)}};
}

Expected<Types> infer_transpose(const OperatorTypes& operation) {
  const Shape& from = operation.shape(0);
  const auto& order = operation.attributes.integers(Attr::perm);
  std::vector<std::int64_t> sorted = order;
  std::ranges::sort(sorted);
  bool is_permutation = sorted.size() == from.size();
  for (std::size_t i = 0; is_permutation && i < sorted.size(); ++i) {
    is_permutation = sorted[i] == static_cast<std::int64_t>(i);
  }
  if (!is_permutation) {
    return shape_error(
        fmt::format("Transpose of {} cannot order its axes as [{}]", to_string(from), fmt::join(order, ", ")));
  }
  Shape to;
  for (std::int64_t axis : order) to.push_back(from[static_cast<std::size_t>(axis)]);
  return Types{{std::move(to), operation.format(0)}};
}

// The `count` positions from `start`, `step` apart, lie in [0, size).
bool positions_fit(std::int64_t start, std::int64_t step, std::int64_t count, std::int64_t size) {
  if (count < 0 || step == 0 || start < 0) return false;
  if (count == 0) return true;
  const auto distance = checked_multiply(step, count - 1);
  const auto last = distance ? checked_add(start, *distance) : std::nullopt;
  return start < size && last && *last >= 0 && *last < size;
}

Expected<Types> infer_slice(const OperatorTypes& operation) {
  const Shape& from = operation.shape(0);
  const auto& axes = operation.attributes.integers(Attr::axes);
  const auto& starts = operation.attributes.integers(Attr::starts);
  const auto& steps = operation.attributes.integers(Attr::steps);
  const Shape& to = operation.attributes.integers(Attr::shape);
  if (axes.size() != starts.size() || axes.size() != steps.size()) {
    return shape_error(fmt::format("Slice of {} has {} axes, {} starts and {} steps", to_string(from), axes.size(),
                                   starts.size(), steps.size()));
  }
  const auto misfit = [&] {
    return shape_error(fmt::format("Slice cannot take {} from {}", to_string(to), to_string(from)));
  };
  if (to.size() != from.size()) return misfit();
  std::vector<bool> sliced(from.size(), false);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] < 0 || axes[i] >= static_cast<std::int64_t>(from.size()) || (i > 0 && axes[i] <= axes[i - 1])) {
      return shape_error(fmt::format("Slice of {} has the axes [{}], which are not its own in order", to_string(from),
                                     fmt::join(axes, ", ")));
    }
    const auto axis = static_cast<std::size_t>(axes[i]);
    sliced[axis] = true;
    if (!positions_fit(starts[i], steps[i], to[axis], from[axis])) {
      return shape_error(fmt::format("Slice cannot take {} elements from {} in steps of {} along axis {} of {}",
                                     to[axis], starts[i], steps[i], axis, to_string(from)));
    }
  }
  for (std::size_t axis = 0; axis < from.size(); ++axis) {
    if (!sliced[axis] && to[axis] != from[axis]) return misfit();
  }
  return Types{{to, operation.format(0)}};
}

Expected<std::size_t> own_axis(const OperatorTypes& operation) {
  const std::int64_t axis = operation.attributes.integer(Attr::axis);
  if (axis < 0 || axis >= static_cast<std::int64_t>(operation.shape(0).size())) {
    return shape_error(
        fmt::format("{} of {} has no axis {}", name_of(operation.op), to_string(operation.shape(0)), axis));
  }
  return static_cast<std::size_t>(axis);
}

Expected<Types> infer_split(const OperatorTypes& operation) {
  const Shape& from = operation.shape(0);
  const auto axis = own_axis(operation);
  if (!axis) return axis.error();
  const auto& sizes = operation.attributes.integers(Attr::split);
  if (sizes.empty() || sizes.size() > max_parts) {
    return shape_error(fmt::format("Split of {} into {} parts is not possible", to_string(from), sizes.size()));
  }
  std::optional<std::int64_t> total = 0;
  for (std::int64_t size : sizes) total = total && size >= 0 ? checked_add(*total, size) : std::nullopt;
  if (!total || *total != from[*axis]) {
    const std::string listed = sizes.size() <= 16 ? fmt::format(" [{}]", fmt::join(sizes, ", ")) : "";
    return shape_error(fmt::format("Split of {} along axis {} has sizes{} that do not add up to {}", to_string(from),
                                   *axis, listed, from[*axis]));
  }
  Types parts;
  for (std::int64_t size : sizes) {
    Shape part = from;
    part[*axis] = size;
    parts.push_back({std::move(part), operation.format(0)});
  }
  return parts;
}

Expected<Types> infer_concat(const OperatorTypes& operation) {
  const auto axis = own_axis(operation);
  if (!axis) return axis.error();
  Shape joined = operation.shape(0);
  for (std::size_t i = 1; i < operation.inputs.size(); ++i) {
    if (!operation.has(i)) return shape_error(fmt::format("Concat lacks its input {}", i + 1));
    Shape next = operation.shape(i);
    if (next.size() == joined.size()) {
      const auto sum = checked_add(joined[*axis], next[*axis]);
      if (!sum) return shape_error("Concat gives an axis longer than can be counted");
      joined[*axis] = next[*axis] = *sum;
    }
    if (next != joined) {
      return shape_error(fmt::format("Concat along axis {} cannot join {} and {}", *axis, to_string(operation.shape(0)),
                                     to_string(operation.shape(i))));
    }
  }
  return Types{{std::move(joined), operation.format(0)}};
}

Expected<Types> infer_expand(const OperatorTypes& operation) {
  const Shape& to = operation.attributes.integers(Attr::shape);
  const auto joined = broadcast(operation.shape(0), to);
  if (!joined || *joined != to) {
    return shape_error(fmt::format("Expand cannot broadcast {} to {}", to_string(operation.shape(0)), to_string(to)));
  }
  return Types{{to, operation.format(0)}};
}

Expected<Types> infer_block_exchange(const OperatorTypes& operation) {
  const Shape& from = operation.shape(0);
  const std::int64_t block = operation.attributes.integer(Attr::blocksize);
  const bool to_space = operation.op == Op::DepthToSpace;
  if (to_space) {
    const std::string& mode = operation.attributes.text(Attr::mode);
    if (mode != "DCR" && mode != "CRD") {
      return shape_error(fmt::format("DepthToSpace has no mode '{}'", mode), "use DCR or CRD");
    }
  }
  const auto area = block > 0 ? checked_multiply(block, block) : std::nullopt;
  const bool fits =
      from.size() == 4 && area && (to_space ? from[1] % *area == 0 : from[2] % block == 0 && from[3] % block == 0);
  if (!fits) {
    return shape_error(fmt::format("{} of {} cannot use blocks of {}", name_of(operation.op), to_string(from), block));
  }
  const auto scaled = [&](std::int64_t size) { return to_space ? checked_multiply(size, block) : size / block; };
  const auto depth = to_space ? from[1] / *area : checked_multiply(from[1], *area);
  const auto height = scaled(from[2]);
  const auto width = scaled(from[3]);
  if (!depth || !height || !width) {
    return shape_error(fmt::format("{} of {} by blocks of {} is larger than can be counted", name_of(operation.op),
                                   to_string(from), block));
  }
  return Types{{Shape{from[0], *depth, *height, *width}, operation.format(0)}};
}

}  // namespace

Expected<Types> infer_view(const OperatorTypes& operation) {
  switch (operation.op) {
    case Op::Reshape: return infer_reshape(operation);
    case Op::Transpose: return infer_transpose(operation);
    case Op::Slice: return infer_slice(operation);
    case Op::Split: return infer_split(operation);
    case Op::Concat: return infer_concat(operation);
    case Op::Expand: return infer_expand(operation);
    case Op::DepthToSpace:
    case Op::SpaceToDepth: return infer_block_exchange(operation);
    default: return Types{*operation.inputs[0]};
  }
}

}  // namespace monet
