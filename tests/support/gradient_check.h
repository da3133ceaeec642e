// Gradients that the training room writes, against central differences in the float64 executor.
#pragma once

#include "interpret/interpret.h"
#include "training/differentiate.h"

#include <string>
#include <utility>
#include <vector>

namespace monet::test {

// Values between -1 and 1 that no two calls with other seeds share; away from 0 by at least 0.05, so that a step of a
// central difference crosses no kink there.
Array random_array(const Shape& shape, unsigned seed);

struct CheckedGradients {
  Graph step;                       // forward and backward
  std::vector<TensorId> gradients;  // of `wanted`; not valid: none
  Values values;                    // of every tensor of the step
  // ||ours - differences|| / ||differences|| for each of `wanted` (absolute where the differences vanish).
  std::vector<double> errors;

  double worst() const;
};

struct GradientCheckOptions {
  training::ConvGradient conv_gradient = training::ConvGradient::direct;
  double step = 1e-5;  // of the central differences
};

// The result that is differentiated is the sum over all floating-point outputs of output · random cotangent. `values`
// must have every tensor from outside. Cost: two runs of the graph for each element of the wanted tensors.
Expected<CheckedGradients> check_gradients(const Graph& forward, const Values& values,
                                           const std::vector<TensorId>& wanted,
                                           const GradientCheckOptions& options = {});

// One operator on random inputs of these types, differentiated with respect to its floating-point inputs: the worst
// error, or a message. Integers are given in `integers`, by input.
Expected<double> operator_gradient_error(Op op, const std::vector<TensorType>& inputs, Attributes attributes = {},
                                         std::size_t outputs = 1, std::vector<std::pair<std::size_t, Array>> given = {},
                                         const GradientCheckOptions& options = {});

}  // namespace monet::test
