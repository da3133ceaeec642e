#include "training/quantized_axes.h"

#include "graph/einsum.h"

namespace monet::training {

namespace {

const Shape& shape_of(const Graph& graph, const Node& node, std::size_t input) {
  return graph[node.inputs[input]].type.shape;
}

// A[.., M, K] · B[.., K, N], either transposed.
std::vector<OperandAxes> matrix_axes(const Graph& graph, const Node& node) {
  std::vector<OperandAxes> result;
  for (std::size_t input = 0; input < 2; ++input) {
    const Shape& shape = shape_of(graph, node, input);
    const std::size_t last = shape.size() - 1;
    const bool transposed = node.attributes.integer_or(input == 0 ? Attr::trans_a : Attr::trans_b, 0) != 0;
    const bool is_last = (input == 0) != transposed;
    const std::size_t contracted = is_last ? last : last - 1;
    result.push_back({input, contracted, is_last ? last - 1 : last, shape[contracted]});
  }
  return result;
}

// The last letter of the first operand that the second has and the output lacks.
std::optional<std::vector<OperandAxes>> einsum_axes(const Graph& graph, const Node& node) {
  const EinsumEquation equation = parse_einsum(node.attributes.text(Attr::equation));
  if (equation.operands.size() != 2) return std::nullopt;
  const auto is_summed = [&](char letter) {
    return equation.output.find(letter) == std::string::npos && equation.operands[1].find(letter) != std::string::npos;
  };
  const auto found = std::find_if(equation.operands[0].rbegin(), equation.operands[0].rend(), is_summed);
  if (found == equation.operands[0].rend()) return std::nullopt;
  std::vector<OperandAxes> result;
  for (std::size_t input = 0; input < 2; ++input) {
    const std::string& letters = equation.operands[input];
    const std::size_t contracted = letters.find(*found);
    // Groups of two axes lie along neighbours.
    std::size_t other = contracted > 0 ? contracted - 1 : std::min(contracted + 1, letters.size() - 1);
    const bool kept = equation.output.find(letters[other]) != std::string::npos;
    if (!kept && contracted + 1 < letters.size() &&
        equation.output.find(letters[contracted + 1]) != std::string::npos) {
      other = contracted + 1;
    }
    result.push_back({input, contracted, other, shape_of(graph, node, input)[contracted]});
  }
  return result;
}

// X[B, C, …] with W[K, C/group, …] of a Conv, W[C, K/group, …] of a ConvTranspose: over the channels. Beside them the
// batch, which is what the gradient of the weights is summed over; of a batch of one the next axis.
std::vector<OperandAxes> convolution_axes(const Graph& graph, const Node& node) {
  const Shape& x = shape_of(graph, node, 0);
  const std::int64_t channels = x[1] / node.attributes.integer(Attr::group);
  const std::size_t weights = node.op == Op::Conv ? 1 : 0;
  return {{0, 1, x[0] > 1 ? std::size_t{0} : std::size_t{2}, channels}, {1, weights, 1 - weights, channels}};
}

// X[B, C, …] and dY[B, K, …]: over the batch and the places of the window, of which X and dY share no neighbours.
std::vector<OperandAxes> weight_gradient_axes(const Graph& graph, const Node& node) {
  const std::int64_t batch = shape_of(graph, node, 0)[0];
  const bool by_channel = node.attributes.integers(Attr::shape)[1] == 1 && node.attributes.integer(Attr::group) > 1;
  const std::int64_t summed = by_channel ? 1 : batch;
  return {{0, 0, 1, summed}, {1, 0, 1, summed}};
}

}  // namespace

bool is_product(Op op) {
  switch (op) {
    case Op::MatMul:
    case Op::Gemm:
    case Op::Einsum:
    case Op::Conv:
    case Op::ConvTranspose:
    case Op::ConvWeightGrad: return true;
    default: return false;
  }
}

std::optional<std::vector<OperandAxes>> operand_axes(const Graph& graph, const Node& node) {
  switch (node.op) {
    case Op::MatMul:
    case Op::Gemm: return matrix_axes(graph, node);
    case Op::Einsum: return einsum_axes(graph, node);
    case Op::Conv:
    case Op::ConvTranspose: return convolution_axes(graph, node);
    case Op::ConvWeightGrad: return weight_gradient_axes(graph, node);
    default: return std::nullopt;
  }
}

}  // namespace monet::training
