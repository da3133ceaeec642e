// One operator whose gradients agree with central differences.
#pragma once

#include "support/gradient_check.h"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>
#include <vector>

namespace monet::test {

using Given = std::vector<std::pair<std::size_t, Array>>;  // values of inputs, by input

// `given`: inputs that are not random.
inline void expect_gradient(Op op, const std::vector<TensorType>& types, const Attributes& attributes = {},
                            Given given = {}, std::size_t outputs = 1) {
  const auto error = operator_gradient_error(op, types, attributes, outputs, std::move(given));
  ASSERT_TRUE(error.has_value()) << name_of(op) << ": " << error.error().text();
  EXPECT_LE(*error, 1e-6) << name_of(op);
}

// Random values of 0.2 and more.
inline Array positive_array(const Shape& shape, unsigned seed = 1) {
  Array array = random_array(shape, seed);
  for (double& value : array.values) value = 0.2 + std::abs(value);
  return array;
}

}  // namespace monet::test
