#include "training/layout.h"

namespace monet::training {

namespace {

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
  void own(TensorId id) { of_[id.index()] = {id, contiguous_strides(shape(id))}; }

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
        of_[to.index()].strides = bits_of(graph_[to].type.format.element) <= 16
                                      ? dense_strides_as(shape(to), from->strides)
                                      : dense_strides(shape(to), {0, 2, 1, 3});
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
      of_[to.index()].strides = dense_strides_as(shape(to), of_[id.index()].strides);
      return;
    }
  }

  const Graph& graph_;
  std::vector<Layout> of_;
};

}  // namespace

std::vector<Layout> layouts(const Graph& graph) { return Layouts(graph).run(); }

}  // namespace monet::training
