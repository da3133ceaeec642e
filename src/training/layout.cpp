#include "training/layout.h"

#include <algorithm>
#include <numeric>

namespace monet::training {

namespace {

using Strides = std::vector<std::int64_t>;

// Strides of a tensor without gaps whose axes lie in memory in that order, outermost first.
Strides dense(const Shape& shape, const std::vector<std::size_t>& order) {
  Strides strides(shape.size(), 0);
  // Without elements any strides do; the other sizes may be larger than can be multiplied.
  if (std::ranges::find(shape, 0) != shape.end()) return strides;
  std::int64_t step = 1;
  for (std::size_t i = order.size(); i-- > 0;) {
    strides[order[i]] = step;
    step *= shape[order[i]];
  }
  return strides;
}

std::vector<std::size_t> first_to_last(std::size_t rank) {
  std::vector<std::size_t> order(rank);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

Strides contiguous(const Shape& shape) { return dense(shape, first_to_last(shape.size())); }

// Dense, with the axes in the order in which `like` has them in memory: what an elementwise operator allocates.
Strides dense_as(const Shape& shape, const Strides& like) {
  std::vector<std::size_t> order = first_to_last(shape.size());
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return like[a] > like[b]; });
  return dense(shape, order);
}

class Layouts {
 public:
  explicit Layouts(const Graph& graph) : graph_(graph), of_(graph.tensors().size()) {
    for (std::size_t i = 0; i < of_.size(); ++i) own(TensorId(i));
  }

  std::vector<Layout> run() {
    for (const Node& node : graph_.nodes()) {
      if (node.phase == Phase::forward) visit(node);
    }
    return std::move(of_);
  }

 private:
  const Shape& shape(TensorId id) const { return graph_[id].type.shape; }
  void own(TensorId id) { of_[id.index()] = {id, contiguous(shape(id))}; }

  void visit(const Node& node) {
    const TensorId to = node.outputs[0];
    const Layout* from = node.inputs.empty() || !node.inputs[0].valid() ? nullptr : &of_[node.inputs[0].index()];
    switch (node.op) {
      case Op::Identity: of_[to.index()] = *from; break;
      case Op::Transpose: {
        Strides strides;
        for (std::int64_t axis : node.attributes.integers(Attr::perm)) {
          strides.push_back(from->strides[static_cast<std::size_t>(axis)]);
        }
        of_[to.index()] = {from->storage, std::move(strides)};
        break;
      }
      case Op::Slice: slice(node, *from); break;
      case Op::Split:
        for (TensorId part : node.outputs) {
          if (part.valid()) of_[part.index()] = *from;
        }
        break;
      case Op::Expand: expand(node, *from); break;
      case Op::Reshape:
        if (auto strides = view_strides(shape(node.inputs[0]), from->strides, shape(to))) {
          of_[to.index()] = {from->storage, std::move(*strides)};
        }
        break;
      case Op::Gather:
        // One place of an axis, as exporters write x[:, 0].
        if (shape(node.inputs[1]).empty() && graph_.constant(node.inputs[1]) != nullptr) {
          of_[to.index()] = *from;
          of_[to.index()].strides.erase(of_[to.index()].strides.begin() + node.attributes.integer(Attr::axis));
        }
        break;
      case Op::Attention:
        // PyTorch's fused kernels write 16 bits in the order of axes that the query has in memory; the one for 32 bits
        // batch, position, head.
        of_[to.index()].strides = bits_of(graph_[to].type.format.element) <= 16 ? dense_as(shape(to), from->strides)
                                                                                : dense(shape(to), {0, 2, 1, 3});
        break;
      default:
        if (family_of(node.op) == OpFamily::elementwise) elementwise(node);
        break;
    }
  }

  void slice(const Node& node, const Layout& from) {
    Strides strides = from.strides;
    const auto& axes = node.attributes.integers(Attr::axes);
    const auto& steps = node.attributes.integers(Attr::steps);
    for (std::size_t i = 0; i < axes.size(); ++i) {
      if (steps[i] < 0) return;  // a flip is a copy
      const auto axis = static_cast<std::size_t>(axes[i]);
      if (shape(node.outputs[0])[axis] > 1) strides[axis] *= steps[i];  // a step that is never taken may be any number
    }
    of_[node.outputs[0].index()] = {from.storage, std::move(strides)};
  }

  void expand(const Node& node, const Layout& from) {
    const Shape& small = shape(node.inputs[0]);
    const Shape& large = shape(node.outputs[0]);
    Strides strides(large.size(), 0);
    const std::size_t lead = large.size() - small.size();
    for (std::size_t i = 0; i < small.size(); ++i) {
      if (small[i] == large[lead + i]) strides[lead + i] = from.strides[i];
    }
    of_[node.outputs[0].index()] = {from.storage, std::move(strides)};
  }

  void elementwise(const Node& node) {
    const TensorId to = node.outputs[0];
    for (TensorId id : node.inputs) {
      if (!id.valid() || shape(id) != shape(to)) continue;
      of_[to.index()].strides = dense_as(shape(to), of_[id.index()].strides);
      return;
    }
  }

  const Graph& graph_;
  std::vector<Layout> of_;
};

}  // namespace

std::vector<Layout> layouts(const Graph& graph) { return Layouts(graph).run(); }

std::optional<Strides> view_strides(const Shape& from, const Strides& strides, const Shape& to) {
  if (element_count(from) == 0) return contiguous(to);
  Strides result(to.size(), 1);
  std::size_t view = to.size();
  std::int64_t chunk_stride = strides.empty() ? 1 : strides.back();
  std::int64_t chunk_size = 1;  // elements of the run of axes of `from` that memory holds evenly spaced
  std::int64_t view_size = 1;
  for (std::size_t i = from.size(); i-- > 0;) {
    chunk_size *= from[i];
    const bool ends = i == 0 || (from[i - 1] != 1 && strides[i - 1] != chunk_size * chunk_stride);
    if (!ends) continue;
    while (view > 0 && (view_size < chunk_size || to[view - 1] == 1)) {
      result[view - 1] = view_size * chunk_stride;
      view_size *= to[view - 1];
      --view;
    }
    if (view_size != chunk_size) return std::nullopt;
    if (i > 0) {
      chunk_stride = strides[i - 1];
      chunk_size = 1;
      view_size = 1;
    }
  }
  if (view != 0) return std::nullopt;
  return result;
}

}  // namespace monet::training
