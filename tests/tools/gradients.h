// Gradients of a model's outputs with respect to what comes from outside, for comparison with automatic
// differentiation.
#pragma once

#include <monet/expected.h>

#include <string>

namespace monet::tools {

// Differentiates the sum over outputs i of output · cotangent_i.npy (outputs without such a file do not count) with
// respect to every floating-point value from outside that inputs.txt lists. Writes gradient_K.npy, where K is the place
// in inputs.txt, or refused_K.txt with the message where it cannot be differentiated; neither for what was folded away.
Status write_gradients(const std::string& folder);

}  // namespace monet::tools
