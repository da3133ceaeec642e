#include "kernels/laws/forms.h"

#include <algorithm>
#include <cmath>

namespace monet {

namespace {

constexpr std::array<Coefficient, 4> depthwise_coefficients = {{
    {"start", 3, 0.1, 30, Scale::none, "us"},
    {"rate", 600, 10, 20000, Scale::multiprocessors, "outputs/ns of 3 x 3 windows"},
    {"taps", 1, 0.2, 3, Scale::none, "power of the window's size over 9"},
    {"wide", 10, 1, 100, Scale::none, "times, for weights of windows above 5 x 5 in 32 bits: another kernel"},
}};

double depthwise_us(const KernelLaws& laws, const Kernel& k, const Coefficients& c) {
  const bool inputs = k.part == KernelPart::input_gradient;
  const double outputs =
      static_cast<double>(k.batch) * static_cast<double>(k.c) * static_cast<double>(inputs ? k.h * k.w : k.oh * k.ow);
  const double taps = static_cast<double>(k.kernel_h * k.kernel_w);
  const bool is_wide = taps > 25 && k.part == KernelPart::weight_gradient && k.precision != KernelPrecision::bf16;
  const double wide = is_wide ? c[3] : 1;
  return c[0] + std::max(outputs * wide * std::pow(taps / 9, c[2]) / c[1], memory_us(laws.memory, k.bytes));
}

constexpr std::array<Coefficient, 3> depthwise_weight_coefficients = {{
    {"start", 3, 0.1, 30, Scale::none, "us"},
    {"image", 0.015, 1e-4, 1, Scale::none, "us of a multiprocessor for an image in the sum of one weight"},
    {"step", 0.005, 1e-4, 1, Scale::none, "us of a multiprocessor for 32 pixels of it"},
}};

// A block for each weight, whose warps take an image each and go over it by 32 pixels (PyTorch, DepthwiseConv2d.cu).
double depthwise_weight_us(const KernelLaws& laws, const Kernel& k, const Coefficients& c) {
  const double blocks = static_cast<double>(k.c) * static_cast<double>(k.kernel_h * k.kernel_w);
  const double steps = std::ceil(static_cast<double>(k.oh * k.ow) / 32);
  const double sums = blocks / laws.multiprocessors * static_cast<double>(k.batch) * (c[1] + steps * c[2]);
  return c[0] + std::max(sums, memory_us(laws.memory, k.bytes));
}

}  // namespace

const LawForm depthwise_weight_form = {"depthwise weights", depthwise_weight_coefficients, depthwise_weight_us};
const LawForm depthwise_form = {"depthwise", depthwise_coefficients, depthwise_us};

}  // namespace monet
