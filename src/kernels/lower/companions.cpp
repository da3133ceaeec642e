#include "kernels/lower/companions.h"

#include "kernels/lower/split_gradient.h"

#include <algorithm>
#include <array>

namespace monet::lowering {

namespace {

NodeId producer(const Graph& graph, TensorId id) { return id.valid() ? graph[id].producer : NodeId(); }

// The node that makes a tensor, if it is such a one.
const Node* made_by(const Graph& graph, TensorId id, Op op) {
  const NodeId node = producer(graph, id);
  return node.valid() && graph[node].op == op ? &graph[node] : nullptr;
}

bool is_number(const Graph& graph, TensorId id) {
  const Constant* constant = graph.constant(id);
  return constant != nullptr && element_count(constant->shape) == 1;
}

// A weight of one axis, or a cast of one.
bool is_bias(const Graph& graph, TensorId id, std::int64_t columns) {
  if (graph[id].type.shape != Shape{columns}) return false;
  if (const Node* cast = made_by(graph, id, Op::Cast)) id = cast->inputs[0];
  return graph[id].role == Role::weight || graph[id].role == Role::master_weight;
}

Op other_gradient(Op op) {
  switch (op) {
    case Op::BatchNormalizationParameterGrad: return Op::BatchNormalizationGrad;
    case Op::BatchNormalizationGrad: return Op::BatchNormalizationParameterGrad;
    case Op::LayerNormalizationParameterGrad: return Op::LayerNormalizationGrad;
    case Op::LayerNormalizationGrad: return Op::LayerNormalizationParameterGrad;
    case Op::RMSNormalizationParameterGrad: return Op::RMSNormalizationGrad;
    case Op::RMSNormalizationGrad: return Op::RMSNormalizationParameterGrad;
    case Op::GroupNormalizationParameterGrad: return Op::GroupNormalizationGrad;
    case Op::GroupNormalizationGrad: return Op::GroupNormalizationParameterGrad;
    default: return Op::Identity;
  }
}

}  // namespace

Companions::Companions(const Graph& graph) : of_(graph.nodes().size()), with_(graph.nodes().size()) {
  const Readers readers(graph);
  find_known(graph);
  find_optimizers(graph);
  find_biases(graph, readers);
  find_inverse_roots(graph, readers);
  find_mean_gradients(graph, readers);
  find_norm_gradients(graph);
  find_promotions(graph, readers);
  find_split_gradients(graph, readers);
}

void Companions::join(NodeId node, Companion kind, NodeId leader) {
  if (of(node).kind != Companion::none) return;
  of_[node.index()] = {kind, leader};
  if (leader.valid()) with_[leader.index()].push_back(node);
}

void Companions::find_known(const Graph& graph) {
  const auto known = [&](TensorId id) {
    if (!id.valid()) return true;
    const NodeId made = graph[id].producer;
    return made.valid() ? of(made).kind == Companion::known : graph[id].role == Role::constant;
  };
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& node = graph.nodes()[i];
    if (!node.inputs.empty() && !is_random(node.op) && std::ranges::all_of(node.inputs, known)) {
      join(NodeId(i), Companion::known, {});
    }
  }
}

void Companions::find_optimizers(const Graph& graph) {
  std::array<NodeId, op_count> last;
  NodeId any;  // of the launches the first, where there are several: scalars are for all of them
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& node = graph.nodes()[i];
    if (family_of(node.op) == OpFamily::optimizer) last[static_cast<std::size_t>(node.op)] = NodeId(i);
  }
  for (const NodeId leader : last) {
    if (leader.valid() && (!any.valid() || leader < any)) any = leader;
  }
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& node = graph.nodes()[i];
    const NodeId id(i);
    if (family_of(node.op) == OpFamily::optimizer) {
      const NodeId leader = last[static_cast<std::size_t>(node.op)];
      if (leader != id) join(id, Companion::optimizer, leader);
    } else if (node.phase == Phase::optimizer && any.valid() && family_of(node.op) == OpFamily::elementwise &&
               std::ranges::all_of(node.inputs, [&](TensorId t) {
                 return graph[t].type.shape.empty() && !graph[t].updates.valid() &&
                        (!graph[t].producer.valid() || of(graph[t].producer).kind == Companion::optimizer);
               })) {
      join(id, Companion::optimizer, any);
    }
  }
}

void Companions::find_biases(const Graph& graph, const Readers& readers) {
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& node = graph.nodes()[i];
    if (node.op != Op::MatMul) continue;
    const TensorId product = node.outputs[0];
    const auto by = readers.of(product);
    if (by.size() != 1 || graph[by[0]].op != Op::Add || graph[product].type.shape.empty()) continue;
    const Node& add = graph[by[0]];
    const TensorId other = add.inputs[add.inputs[0] == product ? 1 : 0];
    if (is_bias(graph, other, graph[product].type.shape.back())) join(by[0], Companion::bias, NodeId(i));
  }
}

// Kernels read operands of one type and compute in another: a cast to a wider type costs no launch of its own where
// operators of several operands alone read it.
void Companions::find_promotions(const Graph& graph, const Readers& readers) {
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& node = graph.nodes()[i];
    if (node.op != Op::Cast || node.phase == Phase::optimizer) continue;
    const TensorId wide = node.outputs[0];
    const auto promotes = [&](NodeId id) {
      const Node& reader = graph[id];
      const bool other = std::ranges::any_of(reader.inputs, [&](TensorId input) {
        return input.valid() && input != wide && !graph[input].type.shape.empty();
      });
      return other && family_of(reader.op) == OpFamily::elementwise && reader.op != Op::Sum &&
             of(id).kind == Companion::none;
    };
    const auto by = readers.of(wide);
    const bool wider = bits_of(graph[wide].type.format.element) > bits_of(graph[node.inputs[0]].type.format.element);
    if (wider && !by.empty() && graph[by[0]].phase == node.phase && std::ranges::all_of(by, promotes)) {
      join(NodeId(i), Companion::promotion, by[0]);
    }
  }
}

void Companions::find_inverse_roots(const Graph& graph, const Readers&) {
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& node = graph.nodes()[i];
    if (node.op != Op::Div) continue;
    if (is_number(graph, node.inputs[0]) && graph.constant(node.inputs[0])->is_uniformly(1)) {
      const NodeId root = producer(graph, node.inputs[1]);
      if (root.valid() && graph[root].op == Op::Sqrt && graph[root].phase == node.phase) {
        join(root, Companion::inverse_root, NodeId(i));
      }
    }
    find_root_gradient(graph, NodeId(i));
  }
}

// g / (2 s) of g = -h · (1 / s / s), where s is the root in 1 / s.
void Companions::find_root_gradient(const Graph& graph, NodeId last) {
  const Node& node = graph[last];
  const Node* scaled = made_by(graph, node.inputs[0], Op::Mul);
  const Node* twice = made_by(graph, node.inputs[1], Op::Mul);
  if (scaled == nullptr || twice == nullptr) return;
  const TensorId root = twice->inputs[0];
  const Node* negative = made_by(graph, scaled->inputs[0], Op::Neg);
  const Node* square = made_by(graph, scaled->inputs[1], Op::Div);
  if (negative == nullptr || square == nullptr || square->inputs[1] != root) return;
  const Node* inverse = made_by(graph, square->inputs[0], Op::Div);
  if (inverse == nullptr || inverse->inputs[1] != root || !is_number(graph, inverse->inputs[0])) return;
  for (const Node* each : {inverse, square, negative, scaled, twice}) {
    join(graph[each->outputs[0]].producer, Companion::root_gradient, last);
  }
}

void Companions::find_mean_gradients(const Graph& graph, const Readers& readers) {
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& node = graph.nodes()[i];
    if (node.op != Op::Expand || node.phase != Phase::backward) continue;
    const NodeId division = producer(graph, node.inputs[0]);
    if (!division.valid() || graph[division].op != Op::Div || !is_number(graph, graph[division].inputs[1])) continue;
    if (readers.of(node.inputs[0]).size() == 1) join(division, Companion::mean_gradient, NodeId(i));
  }
}

// Slices that cut a tensor into pieces are a split, whatever an exporter makes of it: the gradient joins theirs, and no
// zeros are written or added.
void Companions::find_split_gradients(const Graph& graph, const Readers& readers) {
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& node = graph.nodes()[i];
    if (node.op != Op::Sum || node.phase != Phase::backward) continue;
    const auto pieces = pieces_of_sum(graph, readers, node);
    if (!pieces) continue;
    for (NodeId piece : *pieces) join(piece, Companion::split_part, NodeId(i));
  }
}

void Companions::find_norm_gradients(const Graph& graph) {
  const Readers readers(graph);
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& node = graph.nodes()[i];
    const Op other = other_gradient(node.op);
    if (other == Op::Identity || of(NodeId(i)).kind != Companion::none) continue;
    for (NodeId reader : readers.of(node.inputs[0])) {
      const Node& candidate = graph[reader];
      if (candidate.op == other && candidate.inputs[1] == node.inputs[1] && reader.index() > i) {
        join(reader, Companion::norm_gradient, NodeId(i));
        break;
      }
    }
  }
}

}  // namespace monet::lowering
