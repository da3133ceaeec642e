// What is known while a step is lowered: where tensors lie, and the launches so far.
#pragma once

#include "kernels/lower/companions.h"
#include "kernels/lower/lower.h"
#include "kernels/lower/operand.h"

#include <initializer_list>
#include <map>
#include <span>
#include <tuple>

namespace monet::lowering {

class Lowering {
 public:
  Lowering(const Graph& graph, const LoweringOptions& options);

  LoweredStep run();

  const Graph& graph() const { return graph_; }
  const LoweringOptions& options() const { return options_; }
  const Companions& companions() const { return companions_; }
  const Shape& shape(TensorId id) const { return graph_[id].type.shape; }
  std::span<const NodeId> readers(TensorId id) const { return readers_.of(id); }

  // Where a tensor lies. Runs its node first if that has not been.
  const Operand& operand(TensorId id);
  void set(TensorId id, Operand operand);
  // A new buffer for a tensor, contiguous or at these dense strides.
  const Operand& allocate(TensorId id);
  const Operand& allocate(TensorId id, Strides strides);
  // A tensor that takes no memory and no launch.
  void set_nothing(TensorId id);
  // A new buffer for no tensor.
  Operand temporary(const Shape& shape, std::int64_t element_bytes);

  // The operand itself, or a contiguous copy that an operator makes for itself: what is saved for the backward pass is
  // the operand, so that the gradient copies again. A second request in one phase gives the first copy.
  Operand contiguous(const Operand& operand);
  // A view of that shape, on a contiguous copy where strides do not allow it. The copy is a tensor of its own, which is
  // saved.
  Operand as_shape(const Operand& operand, const Shape& shape);
  // Contiguous or channels last, by a copy where it is neither: what convolutions, pools and batch norms take.
  Operand as_image(const Operand& operand, bool channels_last);

  // Launches. Nodes are that one and its companions that have not been launched before; precision is that of the first
  // What an average pool reads is kept for its gradient, though that needs its shape alone. Gradients come in the
  // opposite order: the last of this shape is the one.
  void keep_pooled(const Operand& input) { pooled_.push_back(input); }
  std::optional<Operand> take_pooled(const Shape& shape);

  // operand unless the kernel says more. `bytes` and `cold` are filled in.
  Launch& emit(NodeId node, Kernel kernel, std::initializer_list<Operand> reads, std::initializer_list<Operand> writes);
  Launch& emit(NodeId node, Kernel kernel, const std::vector<Operand>& reads, const std::vector<Operand>& writes);
  // One that carries out no node: it prepares what `node` needs.
  Launch& emit_beside(NodeId node, Kernel kernel, std::initializer_list<Operand> reads,
                      std::initializer_list<Operand> writes);
  Launch& emit_beside(NodeId node, Kernel kernel, const std::vector<Operand>& reads,
                      const std::vector<Operand>& writes);
  void silent(NodeId node);

  KernelPrecision precision(const Operand& operand) const;
  // Of a product or convolution.
  KernelPrecision product_precision(const Operand& operand) const;

  LoweredStep& step() { return step_; }
  NodeId current() const { return current_; }

 private:
  void lower_node(NodeId node);
  void lower_companion(NodeId node);
  void add_gradients_that_wait(NodeId node);
  Launch& launch(NodeId node, Kernel kernel, std::span<const Operand> reads, std::span<const Operand> writes);
  Operand copied(const Operand& operand, int phase);
  AllocationId new_buffer(std::int64_t bytes, TensorId tensor);

  const Graph& graph_;
  LoweringOptions options_;
  Readers readers_;
  Companions companions_;
  LoweredStep step_;
  std::vector<Operand> operands_;  // by tensor; without a buffer: not made yet
  std::vector<bool> done_;         // by node
  std::vector<bool> carried_;      // by node: in a launch, or silent
  std::map<std::tuple<int, AllocationId, std::int64_t, Shape, Strides>, Operand> copies_;
  std::vector<Operand> pooled_;
  NodeId current_;
};

// One for each family of operators: launches what a node needs and sets its outputs.
void lower_elementwise(Lowering& lowering, NodeId node);
void lower_contraction(Lowering& lowering, NodeId node);
void lower_convolution(Lowering& lowering, NodeId node);
void lower_pool(Lowering& lowering, NodeId node);
void lower_reduction(Lowering& lowering, NodeId node);
void lower_softmax(Lowering& lowering, NodeId node);
void lower_norm(Lowering& lowering, NodeId node);
void lower_norm_in_parts(Lowering& lowering, NodeId node);
bool is_norm_gradient(Op op);
// Elements that are normalized together, where that is not over channels.
std::int64_t columns_of_norm(const Node& node, const Shape& shape);
// The number of batches that a batch norm has seen; one that is repeated counts again.
void count_batch(Lowering& lowering, NodeId node);
void lower_view(Lowering& lowering, NodeId node);
void lower_movement(Lowering& lowering, NodeId node);
void lower_generate(Lowering& lowering, NodeId node);
void lower_collective(Lowering& lowering, NodeId node);
void lower_optimizer(Lowering& lowering, NodeId node);

// Element by element over `result`, which has their shape.
Kernel elementwise_kernel(KernelOp op, std::span<const Operand> operands, const Operand& result);
// `parts` one after the other along an axis.
Kernel concat_kernel(std::span<const Operand> parts, const Operand& result, std::size_t axis);
// A copy into another layout: of `from` to `to`, which have one shape.
Kernel copy_kernel(const Operand& from, const Operand& to);

}  // namespace monet::lowering
