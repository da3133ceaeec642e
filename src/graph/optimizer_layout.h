// Which inputs of an optimizer's operator are what: P, G, then states, then scalars of which the last, a factor on the
// gradient, may be absent. The outputs are the new P and the new states.
#pragma once

#include "graph/graph.h"

#include <cstddef>

namespace monet {

struct OptimizerLayout {
  std::size_t states = 0;
  std::size_t scalars = 1;  // without the factor on the gradient; the learning rate is the first

  constexpr std::size_t scalar(std::size_t i) const { return 2 + states + i; }
  constexpr std::size_t factor() const { return 2 + states + scalars; }
};

inline OptimizerLayout optimizer_layout(Op op) {
  switch (op) {
    case Op::MomentumUpdate:
    case Op::LionUpdate: return {.states = 1, .scalars = 1};
    case Op::AdamUpdate: return {.states = 2, .scalars = 3};
    case Op::AdafactorUpdate: return {.states = 2, .scalars = 3};
    case Op::AdafactorVectorUpdate: return {.states = 1, .scalars = 3};
    case Op::Adam8bitUpdate: return {.states = 4, .scalars = 3};
    default: return {};
  }
}

// The states of a parameter of that type. `block`: elements that share a scale in Adam8bitUpdate, at least one.
// AdafactorUpdate requires two axes.
inline std::vector<TensorType> optimizer_states(Op op, const TensorType& parameter, std::int64_t block) {
  std::vector<TensorType> states(optimizer_layout(op).states, parameter);
  const std::size_t rank = parameter.shape.size();
  if (op == Op::AdafactorUpdate) {
    states[0].shape[rank - 1] = 1;
    states[1].shape[rank - 2] = 1;
  }
  if (op == Op::Adam8bitUpdate) {
    const std::int64_t blocks = (element_count(parameter.shape) + block - 1) / block;
    states[0].format = states[1].format = {.element = ElementType::uint8};
    states[2] = states[3] = {.shape = {blocks}, .format = {.element = ElementType::float32}};
  }
  return states;
}

}  // namespace monet
