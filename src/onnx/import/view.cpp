#include "onnx/node_import.h"

#include "base/checked.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

namespace monet::onnx {

namespace {

void identity(NodeImport& node) { node.emit(Op::Identity, {node.input(0)}); }

void reshape_to(NodeImport& node, Shape shape) {
  node.emit(Op::Reshape, {node.input(0)}, {{Attr::shape, std::move(shape)}});
}

// 0 copies the input's size unless `allowzero`; one -1 is what is left.
void reshape(NodeImport& node) {
  Shape target = node.required_integers(1);
  const bool zero_is_zero = node.integer("allowzero", 0) != 0;
  const Shape& from = node.shape(0);
  const auto misfit = [&] {
    node.fail(fmt::format("Reshape cannot turn {} into {}", to_string(from), to_string(target)));
  };
  std::optional<std::size_t> open;
  Shape to = target;
  for (std::size_t axis = 0; axis < to.size(); ++axis) {
    if (to[axis] == 0 && !zero_is_zero) {
      if (axis >= from.size()) return misfit();
      to[axis] = from[axis];
    } else if (to[axis] == -1) {
      if (open) return misfit();
      open = axis;
      to[axis] = 1;
    } else if (to[axis] < 0) {
      return misfit();
    }
  }
  if (open) {
    const auto known = checked_product(to);
    const auto count = element_count(from);
    if (!known || *known == 0 || count % *known != 0) return misfit();
    to[*open] = count / *known;
  }
  reshape_to(node, std::move(to));
}

void flatten(NodeImport& node) {
  const Shape& from = node.shape(0);
  const auto rank = static_cast<std::int64_t>(from.size());
  const std::int64_t written = node.integer("axis", 1);
  if (written < -rank || written > rank) {
    return node.fail(fmt::format("Flatten of {} has no axis {}", to_string(from), written));
  }
  const auto axis = static_cast<std::size_t>(written < 0 ? written + rank : written);
  const auto outer = checked_product(std::span(from).first(axis));
  const auto inner = checked_product(std::span(from).subspan(axis));
  if (!outer || !inner) return node.fail(fmt::format("Flatten of {} is larger than can be counted", to_string(from)));
  reshape_to(node, {*outer, *inner});
}

// An attribute before opset 13, an input since. Nothing when neither is there.
std::optional<std::vector<std::int64_t>> written_axes(NodeImport& node) {
  if (node.version() < 13) {
    if (!node.has_attribute("axes")) return std::nullopt;
    return node.integers("axes");
  }
  if (!node.has_input(1)) return std::nullopt;
  return node.required_integers(1);
}

void squeeze(NodeImport& node) {
  const Shape& from = node.shape(0);
  const auto written = written_axes(node);
  std::vector<bool> dropped(from.size(), false);
  if (written) {
    for (std::int64_t axis : node.axes(*written, from.size())) {
      if (node.failed()) return;
      dropped[static_cast<std::size_t>(axis)] = true;
    }
  } else {
    for (std::size_t axis = 0; axis < from.size(); ++axis) dropped[axis] = from[axis] == 1;
  }
  Shape to;
  for (std::size_t axis = 0; axis < from.size(); ++axis) {
    if (!dropped[axis]) {
      to.push_back(from[axis]);
    } else if (from[axis] != 1) {
      return node.fail(
          fmt::format("Squeeze of {} cannot drop axis {}, which has {} elements", to_string(from), axis, from[axis]));
    }
  }
  reshape_to(node, std::move(to));
}

void unsqueeze(NodeImport& node) {
  const Shape& from = node.shape(0);
  const auto written = written_axes(node);
  if (!written) return node.fail("Unsqueeze does not say which axes to add");
  const std::size_t rank = from.size() + written->size();
  const std::vector<std::int64_t> axes = node.axes(*written, rank);
  if (node.failed()) return;
  if (axes.size() != written->size())
    return node.fail(fmt::format("Unsqueeze adds an axis twice: [{}]", fmt::join(*written, ", ")));
  Shape to = from;
  for (std::int64_t axis : axes) to.insert(to.begin() + axis, 1);
  reshape_to(node, std::move(to));
}

void transpose(NodeImport& node) {
  std::vector<std::int64_t> order(node.rank(0));
  std::iota(order.rbegin(), order.rend(), 0);
  order = node.integers("perm", order);
  node.emit(Op::Transpose, {node.input(0)}, {{Attr::perm, order}});
}

struct SliceRange {
  std::int64_t axis;
  std::int64_t start;
  std::int64_t step;
  std::int64_t count;
};

// ONNX's bounds, which may lie far outside, as positions in [0, size).
SliceRange clamped_range(std::int64_t axis, std::int64_t start, std::int64_t end, std::int64_t step,
                         std::int64_t size) {
  if (start < 0) start += size;
  if (end < 0) end += size;
  // A step beyond the axis takes one element at most.
  const std::int64_t longest = std::max<std::int64_t>(size, 1);
  step = std::clamp(step, -longest, longest);
  std::int64_t count = 0;
  if (step > 0) {
    start = std::clamp<std::int64_t>(start, 0, size);
    end = std::clamp<std::int64_t>(end, 0, size);
    count = ceil_divide(end - start, step);
  } else if (size > 0) {
    start = std::clamp<std::int64_t>(start, 0, size - 1);
    end = std::clamp<std::int64_t>(end, -1, size - 1);
    count = ceil_divide(start - end, -step);
  }
  count = std::max<std::int64_t>(count, 0);
  return {axis, count == 0 ? 0 : start, step, count};
}

void slice(NodeImport& node) {
  const bool by_input = node.version() >= 10;
  const auto starts = by_input ? node.required_integers(1) : node.integers("starts");
  const auto ends = by_input ? node.required_integers(2) : node.integers("ends");
  std::vector<std::int64_t> axes(starts.size());
  std::iota(axes.begin(), axes.end(), 0);
  if (by_input) {
    if (node.has_input(3)) axes = node.required_integers(3);
  } else {
    axes = node.integers("axes", axes);
  }
  const bool has_steps = by_input && node.has_input(4);
  const auto steps = has_steps ? node.required_integers(4) : std::vector<std::int64_t>(starts.size(), 1);
  if (node.failed()) return;
  if (ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size()) {
    return node.fail(fmt::format("Slice has {} starts, {} ends, {} axes and {} steps", starts.size(), ends.size(),
                                 axes.size(), steps.size()));
  }
  Shape shape = node.shape(0);
  std::vector<SliceRange> ranges;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::int64_t axis = node.axis(axes[i], shape.size());
    if (node.failed()) return;
    if (steps[i] == 0) return node.fail("Slice has a step of 0");
    ranges.push_back(clamped_range(axis, starts[i], ends[i], steps[i], node.shape(0)[static_cast<std::size_t>(axis)]));
    shape[static_cast<std::size_t>(axis)] = ranges.back().count;
  }
  std::ranges::sort(ranges, {}, &SliceRange::axis);
  std::vector<std::int64_t> sorted_axes;
  std::vector<std::int64_t> sorted_starts;
  std::vector<std::int64_t> sorted_steps;
  for (const SliceRange& range : ranges) {
    if (!sorted_axes.empty() && sorted_axes.back() == range.axis) {
      return node.fail(fmt::format("Slice names axis {} twice", range.axis));
    }
    sorted_axes.push_back(range.axis);
    sorted_starts.push_back(range.start);
    sorted_steps.push_back(range.step);
  }
  node.emit(
      Op::Slice, {node.input(0)},
      {{Attr::axes, sorted_axes}, {Attr::starts, sorted_starts}, {Attr::steps, sorted_steps}, {Attr::shape, shape}});
}

// As many equal parts as there are outputs; since opset 18 the last may be smaller.
std::vector<std::int64_t> equal_parts(NodeImport& node, std::int64_t size, std::int64_t parts) {
  if (parts < 1) {
    node.fail("Split has no outputs");
    return {};
  }
  const std::int64_t each = ceil_divide(size, parts);
  const std::int64_t last = size - each * (parts - 1);
  if (last < 0 || (last != each && node.version() < 18)) {
    node.fail(fmt::format("Split cannot divide an axis of {} into {} parts", size, parts));
    return {};
  }
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(parts), each);
  sizes.back() = last;
  return sizes;
}

void split(NodeImport& node) {
  const Shape& from = node.shape(0);
  const std::int64_t axis = node.axis(node.integer("axis", 0), from.size());
  const auto outputs = static_cast<std::int64_t>(node.output_count());
  if (node.failed()) return;
  std::vector<std::int64_t> sizes;
  if (node.version() < 13 && node.has_attribute("split")) {
    sizes = node.integers("split");
  } else if (node.version() >= 13 && node.has_input(1)) {
    sizes = node.required_integers(1);
  } else {
    const std::int64_t parts = node.integer("num_outputs", outputs);
    if (parts != outputs) return node.fail(fmt::format("Split has {} outputs and num_outputs {}", outputs, parts));
    sizes = equal_parts(node, from[static_cast<std::size_t>(axis)], parts);
  }
  if (node.failed()) return;
  if (static_cast<std::int64_t>(sizes.size()) != outputs) {
    return node.fail(fmt::format("Split has {} sizes for {} outputs", sizes.size(), outputs));
  }
  node.emit(Op::Split, {node.input(0)}, {{Attr::axis, axis}, {Attr::split, sizes}});
}

void concat(NodeImport& node) {
  const std::int64_t axis = node.axis(node.integer("axis", 1), node.rank(0));
  node.emit(Op::Concat, node.inputs(), {{Attr::axis, axis}});
}

void expand(NodeImport& node) {
  const Shape target = node.required_integers(1);
  const auto shape = broadcast(node.shape(0), target);
  if (!shape) {
    return node.fail(fmt::format("Expand cannot broadcast {} to {}", to_string(node.shape(0)), to_string(target)));
  }
  node.emit(Op::Expand, {node.input(0)}, {{Attr::shape, *shape}});
}

void depth_to_space(NodeImport& node) {
  node.emit(Op::DepthToSpace, {node.input(0)},
            {{Attr::blocksize, node.integer("blocksize", 0)}, {Attr::mode, node.text("mode", "DCR")}});
}

void space_to_depth(NodeImport& node) {
  node.emit(Op::SpaceToDepth, {node.input(0)}, {{Attr::blocksize, node.integer("blocksize", 0)}});
}

constexpr std::array view_entries = {
    ImportEntry{"", "Concat", concat},       ImportEntry{"", "DepthToSpace", depth_to_space},
    ImportEntry{"", "Expand", expand},       ImportEntry{"", "Flatten", flatten},
    ImportEntry{"", "Identity", identity},   ImportEntry{"", "Reshape", reshape},
    ImportEntry{"", "Slice", slice},         ImportEntry{"", "SpaceToDepth", space_to_depth},
    ImportEntry{"", "Split", split},         ImportEntry{"", "Squeeze", squeeze},
    ImportEntry{"", "Transpose", transpose}, ImportEntry{"", "Unsqueeze", unsqueeze},
};

}  // namespace

std::span<const ImportEntry> view_rules() { return view_entries; }

}  // namespace monet::onnx
