// Composite operators as the simpler ones of which they consist. For gradients and optimizers (is_composite) this is
// the definition: the executor runs it. For others (SiLU, fused attention, a product with transposed operands) it says
// the same as the operator's own semantics, for those who know standard operators only.
#pragma once

#include "graph/op_writer.h"

#include <functional>

namespace monet {

// One node on its way to be replaced. A rule writes operators and names the outputs.
class Expansion : public OpWriter {
 public:
  Expansion(GraphBuilder& builder, const Node& node) : OpWriter(builder, node.name), node_(node) {}

  const Attributes& attributes() const { return node_.attributes; }
  std::size_t input_count() const { return node_.inputs.size(); }
  bool has(std::size_t input) const { return input < node_.inputs.size() && node_.inputs[input].valid(); }
  TensorId input(std::size_t i) const { return node_.inputs[i]; }
  Shape input_shape(std::size_t i) const { return shape(input(i)); }
  bool wants(std::size_t output) const { return output < node_.outputs.size() && node_.outputs[output].valid(); }
  // Every output that wants() must be given. A tensor may be any that the rule has made, or one of the inputs.
  void output(std::size_t i, TensorId id) { results_.emplace_back(i, id); }

  const Node& node() const { return node_; }
  const std::vector<std::pair<std::size_t, TensorId>>& results() const { return results_; }

 private:
  const Node& node_;
  std::vector<std::pair<std::size_t, TensorId>> results_;
};

using ExpansionRule = void (*)(Expansion& e);

// Null: the operator has no expansion.
ExpansionRule expansion_of(Op op);
// Whether a node has one that is other than the node itself: a product that neither transposes nor scales has none.
bool is_expandable(const Node& node);

// The families, each in a file of its own under expand/.
ExpansionRule elementwise_expansion(Op op);
ExpansionRule contraction_expansion(Op op);
ExpansionRule convolution_expansion(Op op);
ExpansionRule pool_expansion(Op op);
ExpansionRule softmax_expansion(Op op);
ExpansionRule norm_expansion(Op op);
ExpansionRule movement_expansion(Op op);
ExpansionRule generate_expansion(Op op);
ExpansionRule optimizer_expansion(Op op);

// The graph with every node that `wanted` chooses and that has an expansion replaced by it; again, for nodes that
// expansions bring in. Tensors outside the expansions, with their names and roles, stay. `renumbered`, if given,
// receives the new id of each old tensor.
Expected<Graph> expand(Graph graph, const std::function<bool(const Graph&, const Node&)>& wanted,
                       std::vector<TensorId>* renumbered = nullptr);

}  // namespace monet
