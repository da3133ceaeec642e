// Costs of operators from a file:
//
//   operators:
//     FancyNorm: {cycles: 20 + inputs / 16, energy: 1.5 pJ * inputs}
//     Softmax:
//       cores:
//         simd: {cycles: 4 * B * K / 32, energy: 2 pJ * B * K}
#pragma once

#include <monet/evaluate.h>

#include <string>

namespace monet {

// `file` is for places. Fails on wrong YAML, unknown keys or names, and costs without the right unit.
Expected<CustomCosts> parse_custom_costs(const std::string& text, const std::string& file);

}  // namespace monet
