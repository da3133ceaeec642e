// Rules of the normalizations whose gradients have no operator of their own.
#pragma once

#include "training/gradient_builder.h"

namespace monet::training {

void lp_normalization(GradientBuilder& g);
void mean_variance_normalization(GradientBuilder& g);
void local_response_normalization(GradientBuilder& g);

}  // namespace monet::training
