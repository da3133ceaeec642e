// Runs a graph slowly and obviously right, every number in float64: the oracle for shapes, gradients, views and tiles.
// Not for large networks: plain loops, no blocking, everything kept in memory.
#pragma once

#include "graph/graph.h"

#include <monet/expected.h>

#include <span>
#include <unordered_map>

namespace monet {

// A tensor with values, rows contiguous. Integers and booleans are doubles too (exact to 2^53).
struct Array {
  Shape shape;
  std::vector<double> values;

  static Array zeros(Shape shape);
};

// One operator on values: attributes in normal form, inputs (null: absent), types of the outputs.
struct Execution {
  Op op;
  const Attributes& attributes;
  std::span<const Array* const> inputs;
  std::span<const TensorType* const> input_types;
  std::span<const TensorType* const> output_types;  // null: unwanted

  bool has(std::size_t i) const { return i < inputs.size() && inputs[i] != nullptr; }
  const Array& in(std::size_t i) const { return *inputs[i]; }
  const Shape& out_shape(std::size_t i) const { return output_types[i]->shape; }
  bool wants(std::size_t i) const { return i < output_types.size() && output_types[i] != nullptr; }
};

// One array for each output, empty for those that are not wanted.
// Fails on what types cannot rule out: an index outside its tensor.
Expected<std::vector<Array>> execute(const Execution& execution);

// Values by tensor: inputs, weights and constants without a known value must be given; all others are computed.
using Values = std::unordered_map<TensorId, Array>;
// Adds the value of every tensor of the graph to `values`. Fails when a needed value is missing, has another shape than
// its tensor, or a node fails.
Status run(const Graph& graph, Values& values);

// A known constant, written out.
Array to_array(const Constant& constant);

// The families, each in a file of its own.
Expected<std::vector<Array>> execute_elementwise(const Execution& execution);
Expected<std::vector<Array>> execute_contraction(const Execution& execution);
Expected<std::vector<Array>> execute_convolution(const Execution& execution);
Expected<std::vector<Array>> execute_pool(const Execution& execution);
Expected<std::vector<Array>> execute_reduction(const Execution& execution);
Expected<std::vector<Array>> execute_softmax(const Execution& execution);
Expected<std::vector<Array>> execute_norm(const Execution& execution);
Expected<std::vector<Array>> execute_view(const Execution& execution);
Expected<std::vector<Array>> execute_movement(const Execution& execution);
Expected<std::vector<Array>> execute_generate(const Execution& execution);
// Operators that are defined by their expansion (graph/expand.h).
Expected<std::vector<Array>> execute_composite(const Execution& execution);

// Helpers that the families share.

// Counts through every index of `shape`, last axis fastest: for (IndexCounter i(shape); i.more(); i.next()).
class IndexCounter {
 public:
  explicit IndexCounter(std::span<const std::int64_t> shape);
  bool more() const { return remaining_ > 0; }
  void next();
  const Shape& index() const { return index_; }
  std::int64_t operator[](std::size_t axis) const { return index_[axis]; }

 private:
  Shape shape_;
  Shape index_;
  std::int64_t remaining_;
};

// Position in a row-major array; no checks.
std::int64_t offset(std::span<const std::int64_t> shape, std::span<const std::int64_t> index);
// Position in an operand that is broadcast to the index's shape.
std::int64_t broadcast_offset(std::span<const std::int64_t> operand, std::span<const std::int64_t> index);

}  // namespace monet
