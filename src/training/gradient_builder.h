// One forward operator on its way backward: what a gradient rule sees, and what it gives.
//
// A rule reads the operator's values and the gradients of its outputs, writes operators, and accumulates a gradient for
// each input that needs one. What it reads of the forward part is what is saved: input(), output() and extra_output()
// in the rules are the one place where that is decided.
#pragma once

#include "graph/op_writer.h"
#include "training/saved.h"

namespace monet::training {

enum class ConvGradient : std::uint8_t { direct, im2col };

class GradientBuilder : public OpWriter {
 public:
  struct Context {
    const std::vector<bool>& needed;                // by forward tensor: its gradient is wanted
    std::vector<std::vector<TensorId>>& gradients;  // by forward tensor: what has been accumulated so far
    std::vector<SavedBy>& saves;                    // what rules have asked for so far
    ConvGradient conv_gradient;
  };

  GradientBuilder(GraphBuilder& builder, NodeId node, const Context& context);

  // ---- the operator
  Op op() const { return node_.op; }
  const Attributes& attributes() const { return node_.attributes; }
  std::size_t input_count() const { return node_.inputs.size(); }
  std::size_t output_count() const { return node_.outputs.size(); }
  bool has_input(std::size_t i) const { return i < node_.inputs.size() && node_.inputs[i].valid(); }
  Shape input_shape(std::size_t i = 0) const { return shape(node_.inputs[i]); }
  ElementType input_type(std::size_t i = 0) const { return type(node_.inputs[i]); }
  Shape output_shape(std::size_t i = 0) const { return shape(node_.outputs[i]); }
  bool needs(std::size_t input) const;  // a gradient of this input is wanted
  ConvGradient conv_gradient() const { return context_.conv_gradient; }

  // ---- values of the forward part: reading one saves it
  TensorId input(std::size_t i = 0) { return save(node_.inputs[i], false); }
  TensorId output(std::size_t i = 0) { return save(node_.outputs[i], false); }
  // An output that the forward node may not have had so far (statistics of a norm, indices of a pool).
  TensorId extra_output(std::size_t i);
  // Changes an attribute of the forward node (storage order of indices).
  void set_forward_attribute(Attr key, AttributeValue value);
  // PyTorch saves this tensor although its formula does not read the values.
  void keep(TensorId id) { save(id, true); }
  // The value of an input if it is known, else null.
  const Constant* constant(std::size_t i) const { return builder_graph().constant(node_.inputs[i]); }

  // ---- gradients
  // Not valid when none arrives at that output.
  TensorId output_gradient(std::size_t i = 0) const { return output_gradients_[i]; }
  // Adds to the gradient of an input. A gradient of a broadcast input is summed to the input's shape, and has its type.
  // Does nothing when no gradient of the input is needed, or `gradient` is not valid.
  void accumulate(std::size_t input, TensorId gradient);

  // The operator cannot be differentiated as it is used here: a clear message, and what to do.
  void fail(std::string message, std::string advice = {});

 private:
  TensorId save(TensorId id, bool kept);
  const Graph& builder_graph() const { return const_builder_.graph(); }

  const GraphBuilder& const_builder_;
  NodeId id_;
  Node node_;  // a copy: the graph grows while the rule runs
  const Context& context_;
  std::vector<TensorId> output_gradients_;
};

// Called with at least one output gradient and at least one input that needs a gradient.
using GradientRule = void (*)(GradientBuilder& g);

// Null: the operator cannot be differentiated.
GradientRule gradient_rule(Op op);

// The families, each in a file of its own under gradients/.
GradientRule elementwise_gradient(Op op);
GradientRule contraction_gradient(Op op);
GradientRule convolution_gradient(Op op);
GradientRule pool_gradient(Op op);
GradientRule reduction_gradient(Op op);
GradientRule softmax_gradient(Op op);
GradientRule norm_gradient(Op op);
GradientRule view_gradient(Op op);
GradientRule movement_gradient(Op op);
GradientRule generate_gradient(Op op);

// Everything that has been accumulated for a tensor as one tensor, also left as the only part; not valid: nothing.
TensorId sum_parts(OpWriter& writer, std::vector<TensorId>& parts);

// The rule of an operator whose derivative is zero wherever it exists (Floor, Sign, comparisons).
void zero_gradient(GradientBuilder& g);

}  // namespace monet::training
