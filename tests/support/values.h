// Values that any language can make: sine waves, so that a test and its reference need no file of inputs.
#pragma once

#include "interpret/interpret.h"

#include <cmath>

namespace monet::test {

// scale · sin(0.7 + 1.3 · i + 0.9 · seed) for element i. The same in tests/training/training_curve.py.
inline Array waves(const Shape& shape, double seed, double scale) {
  Array array = Array::zeros(shape);
  for (std::size_t i = 0; i < array.values.size(); ++i) {
    array.values[i] = scale * std::sin(0.7 + 1.3 * static_cast<double>(i) + 0.9 * seed);
  }
  return array;
}

// A starting value for a parameter: about 1/sqrt(fan-in) for weights, near 1 for scales of norms, near 0 for the rest.
inline Array starting_value(const Tensor& tensor, double seed) {
  const Shape& shape = tensor.type.shape;
  if (shape.size() >= 2) {
    std::int64_t fan_in = 1;
    for (std::size_t i = 1; i < shape.size(); ++i) fan_in *= shape[i];
    return waves(shape, seed, 1.5 / std::sqrt(static_cast<double>(fan_in)));
  }
  Array array = waves(shape, seed, 0.1);
  const bool scale = tensor.name.ends_with("weight") || tensor.name.ends_with("var");
  if (scale) {
    for (double& value : array.values) value += 1;
  }
  return array;
}

}  // namespace monet::test
