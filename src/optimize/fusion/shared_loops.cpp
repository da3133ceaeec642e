#include "optimize/fusion/shared_loops.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

namespace monet::fusion {

namespace {

constexpr std::size_t no_axis = 0xffffffffU;

// For each axis after a reshape the axis before it that begins at the same place: the outermost of those that it is
// made of, or of which it is a part.
std::vector<std::size_t> reshaped_axes(const Shape& from, const Shape& to) {
  std::vector<std::size_t> axes(to.size(), no_axis);
  std::size_t i = 0, j = 0;
  while (i < from.size() && j < to.size()) {
    while (i < from.size() && from[i] == 1) ++i;
    while (j < to.size() && to[j] == 1) ++j;
    if (i == from.size() || j == to.size()) break;
    axes[j] = i;
    std::int64_t before = from[i++], after = to[j++];
    while (before != after) {
      if (before < after && i < from.size()) {
        before *= from[i++];
      } else if (after < before && j < to.size()) {
        after *= to[j++];
      } else {
        return axes;
      }
    }
  }
  return axes;
}

// An axis of a stored tensor, or a loop of a node: what may run together is one class.
class Linking {
 public:
  Linking(const Graph& graph, const TilingGraph& tiling) : graph_(graph), tiling_(tiling) {
    for (const Tensor& tensor : graph.tensors()) {
      first_axis_.push_back(root_.size());
      grow(tensor.type.shape.size());
    }
    for (std::size_t n = 0; n < graph.nodes().size(); ++n) {
      first_loop_.push_back(root_.size());
      grow(tiling.cuttable(NodeId(n)).size());
    }
  }

  std::vector<SharedLoop> run() {
    std::size_t operators = 0;
    for (std::size_t n = 0; n < graph_.nodes().size(); ++n) {
      const Node& node = graph_.nodes()[n];
      if (family_of(node.op) == OpFamily::view) {
        link_view(node);
        continue;
      }
      ++operators;
      for (const Nest& nest : nests_of(site_of(graph_, node)).nests) {
        for (const Access& access : nest.reads) link(NodeId(n), nest, access);
        for (const Access& access : nest.writes) link(NodeId(n), nest, access);
      }
    }
    return classes(std::min<std::size_t>(operators, 2));
  }

 private:
  void grow(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) root_.push_back(root_.size());
  }
  std::size_t find(std::size_t i) {
    while (root_[i] != i) i = root_[i] = root_[root_[i]];
    return i;
  }
  void unite(std::size_t a, std::size_t b) {
    a = find(a);
    b = find(b);
    root_[std::max(a, b)] = std::min(a, b);
  }

  void link_view(const Node& node) {
    const Shape& out = graph_[node.outputs.front()].type.shape;
    for (TensorId output : node.outputs) {
      if (!output.valid()) continue;
      for (TensorId input : node.inputs) {
        if (!input.valid()) continue;
        const Shape& from = graph_[input].type.shape;
        const Shape& to = graph_[output].type.shape;
        std::vector<std::size_t> axes(to.size(), no_axis);
        switch (node.op) {
          case Op::Transpose:
            for (std::size_t a = 0; a < out.size(); ++a)
              axes[a] = static_cast<std::size_t>(node.attributes.integers(Attr::perm)[a]);
            break;
          case Op::Identity:
          case Op::Slice:
          case Op::Split:
          case Op::Concat:
          case Op::Expand:
            if (from.size() != to.size()) break;
            for (std::size_t a = 0; a < to.size(); ++a) axes[a] = from[a] == to[a] ? a : no_axis;
            break;
          case Op::Reshape: axes = reshaped_axes(from, to); break;
          default: break;
        }
        for (std::size_t a = 0; a < axes.size(); ++a) {
          if (axes[a] != no_axis) unite(first_axis_[output.index()] + a, first_axis_[input.index()] + axes[a]);
        }
      }
    }
  }

  void link(NodeId id, const Nest& nest, const Access& access) {
    if (access.kind == OperandKind::scratch) return;
    const Node& node = graph_[id];
    const auto& operands = access.kind == OperandKind::input ? node.inputs : node.outputs;
    const TensorId tensor = operands[access.operand];
    if (!tensor.valid()) return;
    for (std::size_t a = 0; a < access.axes.size(); ++a) {
      if (access.axes[a].anywhere) continue;
      if (const auto loop = loop_along(id, nest, access.axes[a]))
        unite(first_loop_[id.index()] + *loop, first_axis_[tensor.index()] + a);
    }
  }

  // The loop that moves along the axis in the longest steps, rather one that does not add up.
  std::optional<std::size_t> loop_along(NodeId id, const Nest& nest, const AxisIndex& axis) const {
    std::optional<std::size_t> best;
    std::pair<bool, std::int64_t> best_rank;
    const auto cuttable = tiling_.cuttable(id);
    for (const Term& term : axis.terms) {
      for (std::size_t i = 0; i < cuttable.size(); ++i) {
        if (cuttable[i].loop.name != nest.loops[term.loop].name) continue;
        const std::pair rank(!cuttable[i].reduces, std::abs(term.factor));
        if (best && rank <= best_rank) continue;
        best = i;
        best_rank = rank;
      }
    }
    return best;
  }

  std::vector<SharedLoop> classes(std::size_t least) {
    std::map<std::size_t, SharedLoop> by_root;
    for (std::size_t n = 0; n < graph_.nodes().size(); ++n) {
      const auto cuttable = tiling_.cuttable(NodeId(n));
      for (const bool reducing : {false, true}) {
        for (std::size_t i = 0; i < cuttable.size(); ++i) {
          if (cuttable[i].reduces != reducing) continue;
          SharedLoop& shared = by_root[find(first_loop_[n] + i)];
          if (!shared.members.empty() && shared.members.back().node == NodeId(n)) continue;
          shared.members.push_back({NodeId(n), cuttable[i].loop});
          shared.reduces |= reducing;
        }
      }
    }
    std::vector<SharedLoop> result;
    for (auto& [root, shared] : by_root) {
      if (shared.members.size() >= least) result.push_back(std::move(shared));
    }
    std::ranges::stable_sort(result, [](const SharedLoop& a, const SharedLoop& b) {
      return a.members.size() != b.members.size() ? a.members.size() > b.members.size() : a.reduces < b.reduces;
    });
    return result;
  }

  const Graph& graph_;
  const TilingGraph& tiling_;
  std::vector<std::size_t> first_axis_;  // by tensor
  std::vector<std::size_t> first_loop_;  // by node, then as TilingGraph::cuttable
  std::vector<std::size_t> root_;
};

}  // namespace

std::vector<SharedLoop> shared_loops(const Graph& graph, const TilingGraph& tiling) {
  return Linking(graph, tiling).run();
}

}  // namespace monet::fusion
