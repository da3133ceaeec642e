// The gradient of GridSample.
#pragma once

#include "training/gradient_builder.h"

namespace monet::training {

void grid_sample(GradientBuilder& g);

}  // namespace monet::training
