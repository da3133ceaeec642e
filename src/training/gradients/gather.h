// Rules of the operators whose indices are data.
#pragma once

#include "training/gradient_builder.h"

namespace monet::training {

void gather(GradientBuilder& g);
void gather_elements(GradientBuilder& g);
void gather_nd(GradientBuilder& g);
void scatter_elements(GradientBuilder& g);
void scatter_nd(GradientBuilder& g);

}  // namespace monet::training
