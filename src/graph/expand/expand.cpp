#include "graph/expand.h"

#include "base/require.h"
#include "graph/compact.h"

#include <algorithm>

namespace monet {

ExpansionRule expansion_of(Op op) {
  switch (family_of(op)) {
    case OpFamily::elementwise: return elementwise_expansion(op);
    case OpFamily::contraction: return contraction_expansion(op);
    case OpFamily::convolution: return convolution_expansion(op);
    case OpFamily::pool: return pool_expansion(op);
    case OpFamily::softmax: return softmax_expansion(op);
    case OpFamily::norm: return norm_expansion(op);
    case OpFamily::movement: return movement_expansion(op);
    case OpFamily::generate: return generate_expansion(op);
    case OpFamily::optimizer: return optimizer_expansion(op);
    case OpFamily::collective:
    case OpFamily::custom:
    case OpFamily::reduction:
    case OpFamily::view: break;
  }
  return nullptr;
}

namespace {

// Expands to itself.
bool is_plain_product(const Node& node) {
  return node.op == Op::MatMul && node.attributes.integer(Attr::trans_a) == 0 &&
         node.attributes.integer(Attr::trans_b) == 0 && node.attributes.real(Attr::alpha) == 1;
}

}  // namespace

bool is_expandable(const Node& node) { return expansion_of(node.op) != nullptr && !is_plain_product(node); }

namespace {

// Makes the tensors that a rule gave as results the outputs of the node that it replaces.
void connect(GraphBuilder& builder, Expansion& expansion, std::size_t first_node) {
  std::unordered_map<TensorId, TensorId> renamed;
  for (auto [output, id] : expansion.results()) {
    const Graph& graph = builder.graph();
    const bool made_here = graph[id].producer.valid() && graph[id].producer.index() >= first_node;
    // One of the inputs, or a result that is given twice.
    if (!made_here || renamed.contains(id)) id = expansion.add(Op::Identity, {id});
    renamed.emplace(id, expansion.node().outputs[output]);
  }
  Graph& graph = builder.edit();
  for (std::size_t i = first_node; i < graph.nodes().size(); ++i) {
    const auto final_id = [&](TensorId id) {
      const auto found = renamed.find(id);
      return found == renamed.end() ? id : found->second;
    };
    Node& node = graph[NodeId(i)];
    for (TensorId& id : node.inputs) id = final_id(id);
    for (TensorId& id : node.outputs) {
      id = final_id(id);
      if (id.valid()) graph[id].producer = NodeId(i);
    }
  }
}

}  // namespace

Expected<Graph> expand(Graph graph, const std::function<bool(const Graph&, const Node&)>& wanted,
                       std::vector<TensorId>* renumbered) {
  const auto chosen = [&](const Graph& all, const Node& node) { return is_expandable(node) && wanted(all, node); };
  std::vector<TensorId> total;
  for (std::size_t i = 0; i < graph.tensors().size(); ++i) total.emplace_back(i);
  // An expansion consists of simpler operators, so this ends.
  while (std::ranges::any_of(graph.nodes(), [&](const Node& node) { return chosen(graph, node); })) {
    const std::vector<Node> nodes = graph.nodes();
    GraphBuilder builder(std::move(graph));
    builder.edit().set_nodes({});
    for (const Node& node : nodes) {
      if (!chosen(builder.graph(), node)) {
        builder.edit().add_node(node);
        continue;
      }
      const std::size_t first_node = builder.graph().nodes().size();
      builder.set_phase(node.phase, node.recomputed);
      builder.set_role(Role::workspace);
      Expansion expansion(builder, node);
      expansion_of(node.op)(expansion);
      connect(builder, expansion, first_node);
    }
    auto result = builder.finish();
    if (!result) return result;
    std::vector<TensorId> moved;
    graph = compact(*std::move(result), &moved);
    for (TensorId& id : total) id = id.valid() ? moved[id.index()] : id;
  }
  if (renumbered != nullptr) *renumbered = std::move(total);
  return graph;
}

}  // namespace monet
