#include "evaluate/account/dependence.h"

#include <algorithm>
#include <bitset>
#include <utility>

namespace monet {

namespace {

constexpr std::size_t most_axes = 32, most_loops = 64;
using LoopBits = std::bitset<most_loops>;

bool has_axis(const Swath& swath, std::size_t axis) { return (swath.whole >> axis & 1U) != 0; }
void add_axis(Swath& swath, std::size_t axis) { swath.whole |= 1U << axis; }

Swath whole_of(const Shape& shape) {
  Swath swath;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) add_axis(swath, axis);
  return swath;
}

// Of two, the one with more elements.
void offer(std::optional<Swath>& known, const Swath& swath, const Shape& shape) {
  if (!known || elements_of(swath, shape) > elements_of(*known, shape)) known = swath;
}

// Least and largest value of the terms whose loops are in `loops`; dense: all between them are taken too.
struct Span {
  std::int64_t least = 0, largest = 0;
  bool dense = true;
};

Span span_of(const Nest& nest, const AxisIndex& axis, const LoopBits& loops) {
  std::vector<Term> terms;
  for (const Term& term : axis.terms) {
    if (loops[term.loop] && nest.loops[term.loop].size > 1) terms.push_back(term);
  }
  std::ranges::sort(terms, {}, [](const Term& term) { return std::abs(term.factor); });
  Span span;
  std::int64_t reach = axis.span;
  for (const Term& term : terms) {
    const std::int64_t far = term.factor * (nest.loops[term.loop].size - 1);
    span.dense &= std::abs(term.factor) <= reach;
    reach += std::abs(far);
    (far < 0 ? span.least : span.largest) += far;
  }
  return span;
}

// Wherever the loops beside `running` stand, those can be set so that an element of the axis is read, not padding.
bool always_reads(const Nest& nest, const AxisIndex& axis, const LoopBits& running, std::int64_t size) {
  if (axis.anywhere) return true;
  const Span own = span_of(nest, axis, running), others = span_of(nest, axis, ~running);
  const auto position = [&](std::int64_t sum) {
    const std::int64_t at = sum + axis.offset;
    return at < 0 ? -1 : at / axis.divisor;
  };
  if (position(own.least + others.least) >= 0 && position(own.largest + others.largest) < size) return true;
  return axis.divisor == 1 && own.dense && position(others.least + own.largest) >= 0 &&
         position(others.largest + own.least) < size;
}

// With the loops in `running` the index takes all positions of the axis, wherever the other loops stand.
bool covers(const Nest& nest, const AxisIndex& axis, const LoopBits& running, std::int64_t size) {
  if (size == 1) return always_reads(nest, axis, running, size);
  if (axis.anywhere || axis.divisor != 1) return false;
  if (std::ranges::any_of(axis.terms, [&](const Term& term) { return !running[term.loop]; })) return false;
  const Span span = span_of(nest, axis, running);
  return span.dense && axis.offset + span.least <= 0 && axis.offset + span.largest + axis.span >= size;
}

// Positions of the view are all somewhere in what is stored.
bool is_total(const tiling::IndexMap& map) {
  return std::ranges::all_of(map.steps, [](const tiling::MapStep& step) {
    using Kind = tiling::MapStep::Kind;
    return step.kind == Kind::swap ||
           (step.kind == Kind::affine && step.affine.begin <= 0 && step.affine.end >= step.size);
  });
}

// Positions of what is stored are all in the view.
bool is_onto(const tiling::IndexMap& map) {
  return std::ranges::all_of(map.steps, [](const tiling::MapStep& step) {
    using Kind = tiling::MapStep::Kind;
    if (step.kind == Kind::swap || step.result == 1) return true;
    return step.kind == Kind::affine && step.affine.scale == 1 &&
           std::min(step.affine.end, step.size) - std::max<std::int64_t>(step.affine.begin, 0) == step.result;
  });
}

// From a view down to what is stored.
std::optional<Swath> below(const tiling::Leaf& leaf, const Swath& view, const Shape& stored) {
  if (leaf.all) return std::nullopt;
  Swath result;
  for (const tiling::ViewPart& part : leaf.parts) {
    const bool whole = std::ranges::all_of(part.axes, [&](std::uint8_t axis) { return has_axis(view, axis); });
    const bool onto = is_onto(part.map);
    if (!is_total(part.map) && !(whole && onto)) return std::nullopt;
    for (const std::uint8_t axis : part.map.axes) {
      if (whole && onto) add_axis(result, axis);
    }
  }
  for (std::size_t axis = 0; axis < stored.size(); ++axis) {
    if (stored[axis] == 1) add_axis(result, axis);
  }
  return result;
}

// From what is stored up to a view of it alone.
std::optional<Swath> above(const tiling::Leaf& leaf, const Swath& stored, const Shape& view) {
  if (leaf.all) return std::nullopt;
  Swath result = whole_of(view);
  for (const tiling::ViewPart& part : leaf.parts) {
    const bool whole = std::ranges::all_of(part.map.axes, [&](std::uint8_t axis) { return has_axis(stored, axis); });
    if (!is_total(part.map) || (!whole && !is_onto(part.map))) return std::nullopt;
    if (whole) continue;
    for (const std::uint8_t axis : part.axes) result.whole &= ~(1U << axis);
  }
  return result;
}

// No loop runs along two axes of the operand: positions along one say nothing of those along another.
bool has_loops_apart(const Access& access) {
  LoopBits seen;
  for (const AxisIndex& axis : access.axes) {
    LoopBits own;
    for (const Term& term : axis.terms) own.set(term.loop);
    if ((seen & own).any()) return false;
    seen |= own;
  }
  return true;
}

// What is read for the elements of `written` that a write of the nest makes.
std::optional<Swath> needed(const Nest& nest, const Access& write, const Swath& written, const Access& read,
                            const Shape& shape) {
  LoopBits running;
  running.set();
  for (std::size_t axis = 0; axis < write.axes.size(); ++axis) {
    if (has_axis(written, axis)) continue;
    if (write.axes[axis].anywhere) return std::nullopt;  // what is read may go elsewhere
    for (const Term& term : write.axes[axis].terms) running.reset(term.loop);
  }
  if (!has_loops_apart(read)) return std::nullopt;
  Swath result;
  for (std::size_t axis = 0; axis < read.axes.size(); ++axis) {
    if (covers(nest, read.axes[axis], running, shape[axis])) {
      add_axis(result, axis);
    } else if (!always_reads(nest, read.axes[axis], running, shape[axis])) {
      return std::nullopt;
    }
  }
  return result;
}

// What is written from the elements of `given` that a read of the nest takes.
std::optional<Swath> made(const Nest& nest, const Access& read, const Swath& given, const Shape& shape,
                          const Access& write, const Shape& result_shape) {
  if (!has_loops_apart(read)) return std::nullopt;
  LoopBits all, tied;
  all.set();
  for (std::size_t axis = 0; axis < read.axes.size(); ++axis) {
    if (has_axis(given, axis)) continue;
    if (!covers(nest, read.axes[axis], all, shape[axis])) return std::nullopt;  // the position may not be read
    for (const Term& term : read.axes[axis].terms) tied.set(term.loop);
  }
  // Wherever the loops of the result stand, an element of `given` must be read for it.
  LoopBits of_result;
  for (const AxisIndex& axis : write.axes) {
    for (const Term& term : axis.terms) of_result.set(term.loop);
  }
  for (std::size_t axis = 0; axis < read.axes.size(); ++axis) {
    if (!has_axis(given, axis)) continue;
    if (!always_reads(nest, read.axes[axis], ~of_result, shape[axis])) return std::nullopt;
  }
  Swath result;
  for (std::size_t axis = 0; axis < write.axes.size(); ++axis) {
    // Where data decide the place, no element is there before all are.
    const AxisIndex& index = write.axes[axis];
    if (index.anywhere || covers(nest, index, ~tied, result_shape[axis])) add_axis(result, axis);
  }
  return result;
}

}  // namespace

bool is_whole(const Swath& swath, const Shape& shape) {
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] != 1 && !has_axis(swath, axis)) return false;
  }
  return true;
}

std::int64_t elements_of(const Swath& swath, const Shape& shape) {
  std::int64_t elements = 1;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (has_axis(swath, axis)) elements *= shape[axis];
  }
  return elements;
}

Dependence::Dependence(const Graph& graph)
    : graph_(graph), nests_(graph.nodes().size()), leaves_(graph.nodes().size()) {
  constexpr std::size_t most_leaves = 64;
  const auto is_small = [&](TensorId id) { return !id.valid() || graph[id].type.shape.size() <= most_axes; };
  for (std::size_t n = 0; n < nests_.size(); ++n) {
    const Node& node = graph[NodeId(n)];
    if (family_of(node.op) == OpFamily::view) continue;
    if (!std::ranges::all_of(node.inputs, is_small) || !std::ranges::all_of(node.outputs, is_small)) continue;
    nests_[n] = nests_of(site_of(graph, node));
    std::erase_if(nests_[n].nests, [](const Nest& nest) { return nest.loops.size() > most_loops; });
    for (const TensorId input : node.inputs) {
      Leaves& leaves = leaves_[n].emplace_back();
      if (!input.valid()) continue;
      leaves = tiling::leaves_of(graph, input, tiling::own_axes(graph[input].type.shape), most_leaves);
    }
  }
}

Dependence::Operands Dependence::operands_of(NodeId id) const {
  const Node& node = graph_[id];
  return {.inputs = Swaths(node.inputs.size()),
          .outputs = Swaths(node.outputs.size()),
          .scratch = Swaths(nests_[id.index()].scratch.size())};
}

std::optional<Swath>* Dependence::find(Operands& operands, const Access& access) const {
  switch (access.kind) {
    case OperandKind::input: return &operands.inputs[access.operand];
    case OperandKind::output: return &operands.outputs[access.operand];
    case OperandKind::scratch: return &operands.scratch[access.operand];
  }
  return nullptr;
}

const Shape& Dependence::shape_of(NodeId id, const Access& access) const {
  const Node& node = graph_[id];
  switch (access.kind) {
    case OperandKind::input: return graph_[node.inputs[access.operand]].type.shape;
    case OperandKind::output: return graph_[node.outputs[access.operand]].type.shape;
    case OperandKind::scratch: break;
  }
  return nests_[id.index()].scratch[access.operand].shape;
}

void Dependence::walk_back(NodeId id, Operands& operands) const {
  const std::vector<Nest>& nests = nests_[id.index()].nests;
  for (auto nest = nests.rbegin(); nest != nests.rend(); ++nest) {
    for (const Access& write : nest->writes) {
      const std::optional<Swath> written = *find(operands, write);
      if (!written) continue;
      for (const Access& read : nest->reads) {
        const Shape& shape = shape_of(id, read);
        const auto part = needed(*nest, write, *written, read, shape);
        if (part) offer(*find(operands, read), *part, shape);
      }
    }
  }
}

void Dependence::walk_on(NodeId id, Operands& operands) const {
  for (const Nest& nest : nests_[id.index()].nests) {
    for (const Access& read : nest.reads) {
      const std::optional<Swath> given = *find(operands, read);
      if (!given) continue;
      for (const Access& write : nest.writes) {
        const Shape& shape = shape_of(id, write);
        const auto part = made(nest, read, *given, shape_of(id, read), write, shape);
        if (part) offer(*find(operands, write), *part, shape);
      }
    }
  }
}

Swaths Dependence::needed_for(NodeId last) const {
  Swaths result(graph_.tensors().size());
  result[graph_[last].outputs.front().index()] = Swath{};
  for (std::size_t n = last.index() + 1; n-- > 0;) {
    const Node& node = graph_[NodeId(n)];
    Operands operands = operands_of(NodeId(n));
    bool any = false;
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i].valid()) operands.outputs[i] = result[node.outputs[i].index()];
      any |= operands.outputs[i].has_value();
    }
    if (!any || nests_[n].nests.empty()) continue;
    walk_back(NodeId(n), operands);
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (!operands.inputs[i]) continue;
      for (const tiling::Leaf& leaf : leaves_[n][i]) {
        const Shape& stored = graph_[leaf.tensor].type.shape;
        if (stored.size() > most_axes) continue;
        if (const auto part = below(leaf, *operands.inputs[i], stored))
          offer(result[leaf.tensor.index()], *part, stored);
      }
    }
  }
  return result;
}

Swaths Dependence::that_need(NodeId first) const {
  Swaths result(graph_.tensors().size());
  result[graph_[first].outputs.front().index()] = Swath{};
  for (std::size_t n = first.index() + 1; n < nests_.size(); ++n) {
    const Node& node = graph_[NodeId(n)];
    if (nests_[n].nests.empty()) continue;
    Operands operands = operands_of(NodeId(n));
    for (std::size_t i = 0; i < node.inputs.size(); ++i) operands.inputs[i] = seen_by(NodeId(n), i, result);
    walk_on(NodeId(n), operands);
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      if (!node.outputs[i].valid() || !operands.outputs[i]) continue;
      offer(result[node.outputs[i].index()], *operands.outputs[i], graph_[node.outputs[i]].type.shape);
    }
  }
  return result;
}

std::optional<Swath> Dependence::seen_by(NodeId node, std::size_t input, const Swaths& stored) const {
  const Leaves& leaves = leaves_[node.index()][input];
  if (leaves.empty()) return std::nullopt;
  const Shape& shape = graph_[graph_[node].inputs[input]].type.shape;
  const auto known = [&](const tiling::Leaf& leaf) { return stored[leaf.tensor.index()]; };
  if (leaves.size() == 1) return known(leaves[0]) ? above(leaves[0], *known(leaves[0]), shape) : std::nullopt;
  const bool whole = std::ranges::all_of(leaves, [&](const tiling::Leaf& leaf) {
    return !leaf.all && known(leaf) && is_whole(*known(leaf), graph_[leaf.tensor].type.shape);
  });
  return whole ? std::optional(whole_of(shape)) : std::nullopt;
}

bool Dependence::always_needs(NodeId id, const Swaths& stored) const {
  const Node& node = graph_[id];
  const auto reads_everywhere = [&](const Nest& nest, const Access& read) {
    const Shape& shape = shape_of(id, read);
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      if (!always_reads(nest, read.axes[axis], {}, shape[axis])) return false;
    }
    return true;
  };
  for (const Nest& nest : nests_[id.index()].nests) {
    for (const Access& read : nest.reads) {
      if (read.kind != OperandKind::input || !reads_everywhere(nest, read)) continue;
      const auto seen = seen_by(id, read.operand, stored);
      if (seen && is_whole(*seen, graph_[node.inputs[read.operand]].type.shape)) return true;
    }
  }
  return false;
}

std::vector<TensorId> Dependence::read_by(NodeId node) const {
  std::vector<TensorId> tensors;
  for (const Leaves& leaves : leaves_[node.index()]) {
    for (const tiling::Leaf& leaf : leaves) tensors.push_back(leaf.tensor);
  }
  return tensors;
}

bool Dependence::reads_whole(NodeId id, TensorId tensor) const {
  const Node& node = graph_[id];
  Operands operands = operands_of(id);
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i].valid()) operands.outputs[i] = whole_of(graph_[node.outputs[i]].type.shape);
  }
  walk_back(id, operands);
  const Shape& stored = graph_[tensor].type.shape;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    if (!operands.inputs[i]) continue;
    for (const tiling::Leaf& leaf : leaves_[id.index()][i]) {
      if (leaf.tensor != tensor) continue;
      const auto part = below(leaf, *operands.inputs[i], stored);
      if (part && is_whole(*part, stored)) return true;
    }
  }
  return false;
}

}  // namespace monet
