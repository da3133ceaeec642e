// What infer() says of one operator.
#pragma once

#include "graph/infer.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace monet::test {

inline constexpr std::int64_t largest_integer = std::numeric_limits<std::int64_t>::max();
inline constexpr std::int64_t smallest_integer = std::numeric_limits<std::int64_t>::min();

inline Expected<Types> inferred(Op op, const std::vector<TensorType>& types, const Attributes& attributes) {
  std::vector<const TensorType*> inputs;
  for (const TensorType& type : types) inputs.push_back(&type);
  return infer({.op = op, .attributes = attributes, .inputs = inputs});
}

// Of the first output.
inline Shape inferred_shape(Op op, const std::vector<TensorType>& types, const Attributes& attributes) {
  const auto result = inferred(op, types, attributes);
  EXPECT_TRUE(result.has_value()) << (result ? "" : result.error().message);
  return result ? result->front().shape : Shape{-1};
}

inline std::string infer_complaint(Op op, const std::vector<TensorType>& types, const Attributes& attributes) {
  const auto result = inferred(op, types, attributes);
  return result ? "none" : result.error().message;
}

}  // namespace monet::test
