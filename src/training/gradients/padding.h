// Padding, and the gradient of Pad.
#pragma once

#include "training/gradient_builder.h"

namespace monet::training {

// `a` with zeros before and after it along each axis; a negative number takes elements away. `a` itself when all are 0.
TensorId with_zeros(OpWriter& writer, TensorId a, std::vector<std::int64_t> begins,
                    const std::vector<std::int64_t>& ends);

void pad(GradientBuilder& g);

}  // namespace monet::training
