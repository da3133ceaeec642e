// Rules of functions of one input, for elementwise.cpp.
#pragma once

#include "training/gradient_builder.h"

namespace monet::training {

// Null: the operator is no function of one input, or cannot be differentiated.
GradientRule unary_gradient(Op op);

}  // namespace monet::training
