#include "evaluate/tiles/views.h"

#include "base/require.h"

#include <algorithm>
#include <set>

namespace monet::tiling {

namespace {

// The way down from a reader, one view at a time.
class Descent {
 public:
  Descent(Shape shape, std::vector<ViewPart> parts) : shape_(std::move(shape)), parts_(std::move(parts)) {}

  std::vector<ViewPart> take() { return std::move(parts_); }

  // Axis i of what is here is axis perm[i] of what is below.
  void transpose(const std::vector<std::int64_t>& perm) {
    Shape below(shape_.size());
    for (std::size_t i = 0; i < perm.size(); ++i) below[static_cast<std::size_t>(perm[i])] = shape_[i];
    rename([&](std::uint8_t axis) { return static_cast<std::uint8_t>(perm[axis]); });
    shape_ = std::move(below);
  }

  // Position x of an axis is that of `map` in an axis of `size` below.
  void map_axis(std::size_t axis, const AffineMap& map, std::int64_t size) {
    auto [part, at] = find(axis);
    if (part == nullptr) {
      // It has one position, which nothing has followed so far.
      if (size == 1) return;
      parts_.push_back(
          {.axes = {}, .map = {.size = 1, .steps = {}, .axes = {static_cast<std::uint8_t>(axis)}, .sizes = {1}}});
      part = &parts_.back();
      at = 0;
    }
    part->map.append_affine(at, map, size);
    shape_[axis] = size;
    if (size == 1) {
      part->map.axes.erase(part->map.axes.begin() + static_cast<std::ptrdiff_t>(at));
      part->map.sizes.erase(part->map.sizes.begin() + static_cast<std::ptrdiff_t>(at));
    }
  }

  void expand(const Shape& below) {
    const std::size_t lead = shape_.size() - below.size();
    for (std::size_t axis = 0; axis < shape_.size(); ++axis) {
      const bool repeats = axis < lead || below[axis - lead] != shape_[axis];
      if (repeats) map_axis(axis, {0, shape_[axis], 0, 0}, 1);
    }
    rename([&](std::uint8_t axis) { return static_cast<std::uint8_t>(axis - lead); });
    shape_ = below;
  }

  // Runs of axes with equal products belong together; axes of size 1 belong to none.
  void reshape(const Shape& below) {
    std::size_t i = 0;
    std::size_t j = 0;
    while (true) {
      while (i < shape_.size() && shape_[i] == 1) ++i;
      while (j < below.size() && below[j] == 1) ++j;
      if (i == shape_.size() || j == below.size()) break;
      std::vector<std::uint8_t> here = {static_cast<std::uint8_t>(i)};
      std::vector<std::uint8_t> there = {static_cast<std::uint8_t>(j)};
      std::int64_t left = shape_[i++];
      std::int64_t right = below[j++];
      while (left != right) {
        if (left < right) {
          if (shape_[i] != 1) here.push_back(static_cast<std::uint8_t>(i));
          left *= shape_[i++];
        } else {
          if (below[j] != 1) there.push_back(static_cast<std::uint8_t>(j));
          right *= below[j++];
        }
      }
      groups_.push_back({std::move(here), std::move(there)});
    }
    for (const auto& [here, there] : groups_) gather(here);
    // New numbers of axes last: until here all speak of this tensor.
    for (ViewPart& part : parts_) replace(part, below);
    groups_.clear();
    shape_ = below;
  }

 private:
  struct Group {
    std::vector<std::uint8_t> here, there;
  };

  template <class F>
  void rename(const F& name) {
    for (ViewPart& part : parts_) {
      for (std::uint8_t& axis : part.map.axes) axis = name(axis);
    }
  }

  std::pair<ViewPart*, std::size_t> find(std::size_t axis) {
    for (ViewPart& part : parts_) {
      const auto found = std::ranges::find(part.map.axes, static_cast<std::uint8_t>(axis));
      if (found != part.map.axes.end()) return {&part, static_cast<std::size_t>(found - part.map.axes.begin())};
    }
    return {nullptr, 0};
  }

  // Makes the axes neighbours, in this order, in one part.
  void gather(const std::vector<std::uint8_t>& axes) {
    for (std::size_t i = 1; i < axes.size(); ++i) {
      ViewPart* slow = find(axes[0]).first;
      ViewPart* fast = find(axes[i]).first;
      MONET_REQUIRE(slow != nullptr && fast != nullptr);
      if (slow == fast) continue;
      join(*slow, *fast);
      parts_.erase(parts_.begin() + (fast - parts_.data()));
    }
    if (axes.size() == 1) return;
    ViewPart& part = *find(axes[0]).first;
    std::vector<std::uint8_t> order;
    for (std::uint8_t axis : part.map.axes) {
      if (axis == axes[0]) order.insert(order.end(), axes.begin(), axes.end());
      if (std::ranges::find(axes, axis) == axes.end()) order.push_back(axis);
    }
    part.map.reorder(order);
  }

  void replace(ViewPart& part, const Shape& below) const {
    std::vector<std::uint8_t> axes;
    for (std::size_t at = 0; at < part.map.axes.size();) {
      const auto group = std::ranges::find(groups_, part.map.axes[at], [](const Group& g) { return g.here.front(); });
      MONET_REQUIRE(group != groups_.end());
      axes.insert(axes.end(), group->there.begin(), group->there.end());
      at += group->here.size();
    }
    part.map.axes = std::move(axes);
    part.map.sizes.clear();
    for (std::uint8_t axis : part.map.axes) part.map.sizes.push_back(below[axis]);
  }

  Shape shape_;
  std::vector<ViewPart> parts_;
  std::vector<Group> groups_;  // of the reshape that is being done
};

void slice(Descent& descent, const Node& node, const Shape& here, const Shape& below) {
  const auto& axes = node.attributes.integers(Attr::axes);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<std::size_t>(axes[i]);
    descent.map_axis(
        axis, {0, here[axis], node.attributes.integers(Attr::steps)[i], node.attributes.integers(Attr::starts)[i]},
        below[axis]);
  }
}

void split(Descent& descent, const Node& node, TensorId here, const Shape& shape, const Shape& below) {
  const auto axis = static_cast<std::size_t>(node.attributes.integer(Attr::axis));
  const auto& sizes = node.attributes.integers(Attr::split);
  std::int64_t start = 0;
  for (std::size_t i = 0; node.outputs[i] != here; ++i) start += sizes[i];
  descent.map_axis(axis, {0, shape[axis], 1, start}, below[axis]);
}

// As a reshape to six axes, a transpose and a reshape back.
void depth_to_space(Descent& descent, const Node& node, const Shape& here, const Shape& below) {
  const std::int64_t block = node.attributes.integer(Attr::blocksize);
  const std::int64_t channels = here[1];
  const bool depth_first = node.attributes.text(Attr::mode) == "DCR";
  descent.reshape({here[0], channels, below[2], block, below[3], block});
  descent.transpose(depth_first ? Shape{0, 3, 4, 1, 5, 2} : Shape{0, 1, 4, 2, 5, 3});
  descent.reshape(below);
}

void space_to_depth(Descent& descent, const Node& node, const Shape& here, const Shape& below) {
  const std::int64_t block = node.attributes.integer(Attr::blocksize);
  descent.reshape({here[0], block, block, below[1], here[2], here[3]});
  descent.transpose({0, 3, 5, 1, 2, 4});
  descent.reshape(below);
}

void go_down(Descent& descent, const Graph& graph, const Node& node, TensorId here) {
  const Shape& shape = graph[here].type.shape;
  const Shape& below = graph[node.inputs[0]].type.shape;
  switch (node.op) {
    case Op::Transpose: return descent.transpose(node.attributes.integers(Attr::perm));
    case Op::Slice: return slice(descent, node, shape, below);
    case Op::Split: return split(descent, node, here, shape, below);
    case Op::Expand: return descent.expand(below);
    case Op::DepthToSpace: return depth_to_space(descent, node, shape, below);
    case Op::SpaceToDepth: return space_to_depth(descent, node, shape, below);
    case Op::Reshape: return descent.reshape(below);
    default: return;
  }
}

std::vector<Leaf> all_behind(const Graph& graph, TensorId tensor) {
  std::set<TensorId> seen = {tensor};
  std::vector<TensorId> open = {tensor};
  std::vector<Leaf> leaves;
  while (!open.empty()) {
    const TensorId id = open.back();
    open.pop_back();
    if (!is_view(graph, id)) {
      leaves.push_back({.tensor = id, .parts = {}, .all = true});
      continue;
    }
    for (TensorId below : graph[graph[id].producer].inputs) {
      if (below.valid() && seen.insert(below).second) open.push_back(below);
    }
  }
  return leaves;
}

}  // namespace

bool is_view(const Graph& graph, TensorId id) {
  const NodeId producer = graph[id].producer;
  return producer.valid() && family_of(graph[producer].op) == OpFamily::view;
}

void join(ViewPart& slow, const ViewPart& fast) {
  slow.axes.insert(slow.axes.end(), fast.axes.begin(), fast.axes.end());
  slow.map = join(std::move(slow.map), fast.map);
}

std::vector<ViewPart> own_axes(const Shape& shape) {
  std::vector<ViewPart> parts;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    const auto name = static_cast<std::uint8_t>(axis);
    ViewPart part{.axes = {name}, .map = {.size = shape[axis], .steps = {}, .axes = {}, .sizes = {}}};
    if (shape[axis] != 1) {
      part.map.axes.push_back(name);
      part.map.sizes.push_back(shape[axis]);
    }
    parts.push_back(std::move(part));
  }
  return parts;
}

std::vector<Leaf> leaves_of(const Graph& graph, TensorId tensor, std::vector<ViewPart> parts, std::size_t limit) {
  struct Open {
    TensorId tensor;
    Descent descent;
  };
  std::vector<Leaf> leaves;
  std::vector<Open> open;
  open.push_back({tensor, Descent(graph[tensor].type.shape, std::move(parts))});
  while (!open.empty()) {
    Open next = std::move(open.back());
    open.pop_back();
    if (element_count(graph[next.tensor].type.shape) == 0) continue;
    while (is_view(graph, next.tensor) && graph[graph[next.tensor].producer].op != Op::Concat) {
      const Node& node = graph[graph[next.tensor].producer];
      go_down(next.descent, graph, node, next.tensor);
      next.tensor = node.inputs[0];
    }
    if (!is_view(graph, next.tensor)) {
      leaves.push_back({.tensor = next.tensor, .parts = next.descent.take()});
      continue;
    }
    const Node& node = graph[graph[next.tensor].producer];
    if (leaves.size() + open.size() + node.inputs.size() > limit) return all_behind(graph, tensor);
    const auto axis = static_cast<std::size_t>(node.attributes.integer(Attr::axis));
    std::int64_t start = 0;
    for (TensorId below : node.inputs) {
      const std::int64_t size = graph[below].type.shape[axis];
      if (size > 0) {
        open.push_back({below, next.descent});
        open.back().descent.map_axis(axis, {start, start + size, 1, -start}, size);
      }
      start += size;
    }
  }
  return leaves;
}

}  // namespace monet::tiling
