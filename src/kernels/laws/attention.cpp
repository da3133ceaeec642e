#include "kernels/laws/forms.h"

#include <cmath>

namespace monet {

namespace {

constexpr std::array<Coefficient, 2> attention_coefficients = {{
    {"start", 10, 0.5, 100, Scale::none, "us"},
    {"rate", 0.4, 0.02, 2, Scale::ceiling, "TFLOP/s of the forward pass, which the backward pass is counted in too"},
}};

// Blocks of 128 positions; a causal mask leaves out those above the diagonal.
double attention_us(const KernelLaws& /*laws*/, const Kernel& k, const Coefficients& c) {
  const double queries = 128 * std::ceil(static_cast<double>(k.s) / 128);
  const double keys = 128 * std::ceil(static_cast<double>(k.keys) / 128);
  const double pairs = k.causal ? queries * (keys + 128) / 2 : queries * keys;
  return c[0] +
         4 * static_cast<double>(k.batch) * static_cast<double>(k.heads) * static_cast<double>(k.d) * pairs / c[1];
}

}  // namespace

const LawForm attention_form = {"attention", attention_coefficients, attention_us};

}  // namespace monet
