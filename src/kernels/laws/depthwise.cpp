#include "kernels/laws/forms.h"

#include <algorithm>
#include <cmath>

namespace monet {

namespace {

constexpr std::array<Coefficient, 3> depthwise_coefficients = {{
    {"start", 3, 0.1, 30, Scale::none, "us"},
    {"rate", 600, 10, 20000, Scale::multiprocessors, "outputs/ns of 3 x 3 windows"},
    {"taps", 1, 0.2, 3, Scale::none, "power of the window's size over 9"},
}};

double depthwise_us(const KernelLaws& laws, const Kernel& k, const Coefficients& c) {
  const bool inputs = k.part == KernelPart::input_gradient;
  const double outputs =
      static_cast<double>(k.batch) * static_cast<double>(k.c) * static_cast<double>(inputs ? k.h * k.w : k.oh * k.ow);
  const double taps = static_cast<double>(k.kernel_h * k.kernel_w);
  return c[0] + std::max(outputs * std::pow(taps / 9, c[2]) / c[1], memory_us(laws.memory, k.bytes));
}

}  // namespace

const LawForm depthwise_form = {"depthwise", depthwise_coefficients, depthwise_us};

}  // namespace monet
