// Constants that an operator makes of constants.
#pragma once

#include "graph/fold.h"
#include "graph/infer.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

namespace monet::test {

// Nothing where the operator is not folded.
inline std::optional<std::vector<Constant>> folded(Op op, const Attributes& attributes,
                                                   const std::vector<Constant>& inputs) {
  std::vector<TensorType> types;
  for (const Constant& input : inputs) types.push_back({input.shape, {.element = input.type}});
  std::vector<const TensorType*> pointers;
  std::vector<const Constant*> values;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    pointers.push_back(&types[i]);
    values.push_back(&inputs[i]);
  }
  const auto outputs = infer({.op = op, .attributes = attributes, .inputs = pointers});
  EXPECT_TRUE(outputs.has_value()) << outputs.error().text();
  if (!outputs) return std::nullopt;
  return fold(op, attributes, values, *outputs);
}

}  // namespace monet::test
