// Which axes of its operands a product sums over.
#pragma once

#include "graph/graph.h"

#include <optional>
#include <vector>

namespace monet::training {

// Axes of one operand of a product, counted from the first.
struct OperandAxes {
  std::size_t input = 0;       // of the node
  std::size_t contracted = 0;  // along which groups of both operands meet
  std::size_t other = 0;       // what the product keeps of it: rows of the left operand, columns of the right one
  std::int64_t summed = 0;     // elements along `contracted` that are added up
};

// MatMul, Gemm, Einsum, Conv, ConvTranspose, ConvWeightGrad.
bool is_product(Op op);

// Of both operands. Nothing: an Einsum of other than two operands, or that sums over no axis that both have.
std::optional<std::vector<OperandAxes>> operand_axes(const Graph& graph, const Node& node);

}  // namespace monet::training
