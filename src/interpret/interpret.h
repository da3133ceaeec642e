// Runs a graph obviously right, every number in float64: the oracle for shapes, gradients, views and tiles. Sums are
// taken in the order of the index that is summed over. Not for large networks: one thread, everything kept in memory;
// program.h runs the same step many times and keeps less.
#pragma once

#include "graph/graph.h"
#include "graph/quantize.h"

#include <monet/expected.h>

#include <optional>
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
  std::uint64_t seed = 0;                           // of random operators

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

struct RunOptions {
  // Each result is rounded to what the format of its tensor can hold, once: an operator itself works in float64, also
  // where it consists of others. Tensors of plain integers and booleans stay as they are. Rounding is to the nearest,
  // ties to even, or at random where the node has the mode "stochastic" (of an optimizer: its first result).
  bool rounds = false;
  std::uint64_t seed = 0;  // of random operators and of stochastic rounding
};

// Adds the value of every tensor of the graph to `values`. Fails when a needed value is missing, has another shape than
// its tensor, or a node fails. Values that are given, and known constants, are taken as they are.
Status run(const Graph& graph, Values& values, const RunOptions& options = {});

// The results of one node of a graph.
Expected<std::vector<Array>> execute(const Graph& graph, const Node& node, std::span<const Array* const> inputs,
                                     const RunOptions& options);

// Rounds the values to what the format can hold (graph/quantize.h); values of plain integers stay as they are.
void round_to(const Format& format, Array& array, const QuantizeOptions& options = {});
void round_results(const Graph& graph, const Node& node, std::vector<Array>& results, const RunOptions& options);

// A known constant, written out.
Array to_array(const Constant& constant);

// The families, each in a file of its own.
Expected<std::vector<Array>> execute_elementwise(const Execution& execution);
// The same for common arithmetic on operands that need no index arithmetic; nothing: not one of these.
std::optional<Array> execute_arithmetic(const Execution& execution);
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

// result[column] += sum over c of a[c · step] · b[c][column], in the order of c.
void add_row_times_matrix(const double* a, std::int64_t step, const double* b, std::int64_t inner, std::int64_t columns,
                          double* result);

// Position in a row-major array; no checks.
std::int64_t offset(std::span<const std::int64_t> shape, std::span<const std::int64_t> index);
// Position in an operand that is broadcast to the index's shape.
std::int64_t broadcast_offset(std::span<const std::int64_t> operand, std::span<const std::int64_t> index);

}  // namespace monet
