// Values of an operator whose inputs are known: what shape computations in a file come down to.
#pragma once

#include "graph/graph.h"

#include <optional>
#include <span>

namespace monet {

// Dense constants larger than this are not made.
constexpr std::int64_t most_folded_elements = std::int64_t{1} << 16;

// The values of the outputs, one for each of `outputs` (the types that infer() gave), or nothing: the operator is not
// one that is folded, a value is too large to keep, or the arithmetic overflows. Uniform and banded inputs of any size
// stay uniform and banded where the operator allows it.
std::optional<std::vector<Constant>> fold(Op op, const Attributes& attributes, std::span<const Constant* const> inputs,
                                          std::span<const TensorType> outputs);

// Both used by fold() only; see there.
std::optional<Constant> fold_elementwise(Op op, const Attributes& attributes, std::span<const Constant* const> inputs,
                                         const TensorType& output);
std::optional<std::vector<Constant>> fold_structure(Op op, const Attributes& attributes,
                                                    std::span<const Constant* const> inputs,
                                                    std::span<const TensorType> outputs);

}  // namespace monet
