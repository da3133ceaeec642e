// Values with which training begins.
#pragma once

#include "interpret/interpret.h"

#include <map>
#include <string>

namespace monet::training {

// By name, for every tensor of a forward network that no node makes, and that is neither data nor a known constant. It
// depends on the seed, the tensor's name and the first operator that reads it:
// - weights of products and convolutions: uniform with variance 2 / fan-in (He et al. 2015, "Delving deep into
//   rectifiers", eq. 10);
// - tables that are looked up, and what is added to activations with two axes or more: uniform with deviation 0.02
//   (GPT-2);
// - scales of norms, running variances, factors: 1; slopes of PReLU: 0.25 (He et al. 2015, 4.1); biases and all
//   else: 0. The second matrix of a low-rank addition: 0 (Hu et al. 2021).
std::map<std::string, Array> initial_values(const Graph& forward, std::uint64_t seed);

}  // namespace monet::training
