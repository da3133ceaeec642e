// What the optimizers' expansions share. The formulas are those of torch.optim, which the tests compare with.
#pragma once

#include "graph/expand.h"

namespace monet::optimizer {

// The gradient times the factor that clipping or a loss scale left, in the type of the parameter.
TensorId gradient(Expansion& e);
// Scalar i, of which the learning rate is the first, in the type of the parameter.
TensorId scalar(Expansion& e, std::size_t i);
// P · (1 − learning rate · weight_decay): decay apart from the gradient.
TensorId decayed_parameter(Expansion& e);

// The new moments, in the parameter's shape.
struct Moments {
  TensorId m;
  TensorId v;
};
// One step of Adam from the old moments; gives output 0.
Moments adam_step(Expansion& e, const Moments& old);

void adafactor(Expansion& e);         // factors the second moment over the last two axes
void adafactor_vector(Expansion& e);  // keeps the whole second moment
void adam8bit(Expansion& e);

}  // namespace monet::optimizer
