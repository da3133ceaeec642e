#include "training/quantized_views.h"

#include <algorithm>

namespace monet::training {

namespace {

enum class Match : std::uint8_t { whole, parts, none };

struct MappedAxis {
  std::size_t axis = 0;
  Match match = Match::none;  // the same elements; the elements of the inner of several axes; else
};

// The axis of `to` whose neighbours are as far apart as those of `axis` in `from`: both are shapes of the same
// elements.
MappedAxis across_reshape(const Shape& from, std::size_t axis, const Shape& to) {
  const std::int64_t inner = element_count(std::span(from).subspan(axis + 1));
  std::int64_t step = 1;
  for (std::size_t i = to.size(); i-- > 0; step *= to[i]) {
    if (step != inner) continue;
    // Axes of one element lie as far apart as the next one.
    if (to[i] == from[axis]) return {i, Match::whole};
    if (to[i] > 1) return {i, Match::parts};
  }
  return {};
}

bool is_looked_through(const Graph& graph, const Node& node) {
  switch (node.op) {
    case Op::Identity:
    case Op::Reshape:
    case Op::Transpose: return true;
    case Op::Cast:
      return is_floating(graph[node.inputs[0]].type.format.element) &&
             is_floating(graph[node.outputs[0]].type.format.element);
    default: return false;
  }
}

// Which axes count for a format.
bool uses_contracted(const Format& format) { return format.is_scaled() && format.grouping == Grouping::block; }
bool uses_other(const Format& format) {
  return format.is_scaled() &&
         (format.grouping == Grouping::channel || (format.grouping == Grouping::block && format.group_rows > 1));
}
bool is_square(const Format& format) { return uses_contracted(format) && format.group_rows > 1; }

bool are_neighbours(std::size_t a, std::size_t b) { return a + 1 == b || b + 1 == a; }

struct ProductAxes {
  std::size_t contracted, other;
};

std::optional<ProductAxes> behind_reshape(const Shape& to, const Shape& from, ProductAxes axes, const Format& number) {
  if (element_count(to) == 0) return std::nullopt;
  ProductAxes result = axes;
  if (uses_contracted(number)) {
    const MappedAxis mapped = across_reshape(to, axes.contracted, from);
    if (mapped.match == Match::none) return std::nullopt;
    const std::int64_t here = to[axes.contracted];
    const std::int64_t there = from[mapped.axis];
    const bool whole_groups = std::min(here, there) % number.group_size == 0;
    const bool padded = is_square(number) && there < here;
    if (mapped.match == Match::parts && !whole_groups && !padded) return std::nullopt;
    result.contracted = mapped.axis;
  }
  if (uses_other(number)) {
    const MappedAxis mapped = across_reshape(to, axes.other, from);
    const bool exact = mapped.match == Match::whole || (mapped.match == Match::parts && is_square(number));
    if (!exact) return std::nullopt;
    result.other = mapped.axis;
  }
  return result;
}

std::optional<ProductAxes> behind(const Graph& graph, const Node& node, ProductAxes axes, const Format& number) {
  const Shape& from = graph[node.inputs[0]].type.shape;
  const Shape& to = graph[node.outputs[0]].type.shape;
  if (node.op == Op::Transpose) {
    const auto& perm = node.attributes.integers(Attr::perm);
    axes = {static_cast<std::size_t>(perm[axes.contracted]), static_cast<std::size_t>(perm[axes.other])};
  } else if (node.op == Op::Reshape) {
    const auto mapped = behind_reshape(to, from, axes, number);
    if (!mapped) return std::nullopt;
    axes = *mapped;
  }
  return axes;
}

template <class Passes>
TensorId behind_all(const Graph& graph, TensorId tensor, const Passes& passes) {
  while (graph[tensor].producer.valid()) {
    const Node& node = graph[graph[tensor].producer];
    if (!passes(node.op) || !node.inputs[0].valid()) break;
    tensor = node.inputs[0];
  }
  return tensor;
}

}  // namespace

Format grouped_along(const Format& number, std::size_t rank, std::size_t contracted, std::size_t other) {
  Format format = number;
  const auto from_end = [&](std::size_t axis) {
    return static_cast<std::int8_t>(static_cast<std::int64_t>(axis) - static_cast<std::int64_t>(rank));
  };
  if (!format.is_scaled()) return format;
  if (format.grouping == Grouping::channel) format.group_axis = from_end(other);
  if (format.grouping != Grouping::block) return format;
  format.group_axis = from_end(format.group_rows > 1 ? std::max(contracted, other) : contracted);
  // Of the sides of a group the last is the one along the summed axis.
  if (format.group_rows > 1 && other > contracted) std::swap(format.group_rows, format.group_size);
  return format;
}

Source source_of(const Graph& graph, TensorId operand, const Format& number, std::size_t contracted,
                 std::size_t other) {
  struct Step {
    TensorId tensor;
    ProductAxes axes;
    std::size_t views;
  };
  Step best{operand, {contracted, other}, 0};
  Step at = best;
  std::vector<NodeId> views;
  while (graph[at.tensor].producer.valid()) {
    const NodeId producer = graph[at.tensor].producer;
    const Node& node = graph[producer];
    if (!is_looked_through(graph, node)) break;
    const auto axes = behind(graph, node, at.axes, number);
    if (!axes) break;
    if (node.op == Op::Reshape || node.op == Op::Transpose) views.push_back(producer);
    at = {node.inputs[0], *axes, views.size()};
    if (!is_square(number) || are_neighbours(axes->contracted, axes->other)) best = at;
  }
  views.resize(best.views);
  std::ranges::reverse(views);
  return {best.tensor,
          grouped_along(number, graph[best.tensor].type.shape.size(), best.axes.contracted, best.axes.other),
          std::move(views), grouped_along(number, graph[operand].type.shape.size(), contracted, other)};
}

Format seen_through(const Graph& graph, const Node& view, const Format& format) {
  if (!format.is_scaled() || format.grouping == Grouping::tensor) return format;
  const Shape& from = graph[view.inputs[0]].type.shape;
  const Shape& to = graph[view.outputs[0]].type.shape;
  Format result = format;
  result.group_axis = -1;
  const auto axis = normalized_axis(format.group_axis, from.size());
  if (!axis) return result;
  const auto column = static_cast<std::size_t>(*axis);
  const auto seen = [&](std::size_t before) -> std::optional<std::size_t> {
    if (view.op == Op::Reshape) {
      const MappedAxis mapped = across_reshape(from, before, to);
      return mapped.match == Match::none ? std::nullopt : std::optional(mapped.axis);
    }
    if (view.op != Op::Transpose) return before;
    const auto& perm = view.attributes.integers(Attr::perm);
    return static_cast<std::size_t>(std::ranges::find(perm, static_cast<std::int64_t>(before)) - perm.begin());
  };
  const auto now = seen(column);
  if (!now) return result;
  if (format.grouping == Grouping::channel || format.group_rows == 1 || column == 0) {
    result.group_axis =
        static_cast<std::int8_t>(static_cast<std::int64_t>(*now) - static_cast<std::int64_t>(to.size()));
    return result;
  }
  const auto rows = seen(column - 1);
  if (!rows || !are_neighbours(*rows, *now)) return result;
  if (*rows > *now) std::swap(result.group_rows, result.group_size);
  result.group_axis =
      static_cast<std::int8_t>(static_cast<std::int64_t>(std::max(*rows, *now)) - static_cast<std::int64_t>(to.size()));
  return result;
}

TensorId behind_views(const Graph& graph, TensorId tensor) {
  return behind_all(graph, tensor, [](Op op) { return op == Op::Cast || family_of(op) == OpFamily::view; });
}

TensorId origin_of(const Graph& graph, TensorId tensor) {
  return behind_all(graph, tensor, [](Op op) {
    return op == Op::Cast || op == Op::Pad || op == Op::Gather || family_of(op) == OpFamily::view;
  });
}

}  // namespace monet::training
