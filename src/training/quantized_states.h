// The formats of what lies between operators and between steps: stored values, weights, their gradients, the state of
// the optimizer.
#pragma once

#include "training/insertions.h"
#include "training/quantized.h"

#include <vector>

namespace monet::training {

// Integers that stand for real numbers have one power of two for the tensor; floating-point numbers are as they are.
Format real_format(ElementType element);

// Sets the formats that the recipe has for them. Products write accumulators that are converted to the stored values;
// new weights that have a scale are converted from the sum of old ones and updates. Returns a class for each.
std::vector<QuantizedClass> set_state_formats(Insertions& graph, const Recipe& recipe);

}  // namespace monet::training
