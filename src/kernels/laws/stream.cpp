#include "kernels/laws/forms.h"

#include <algorithm>
#include <cmath>

namespace monet {

namespace {

constexpr std::array<Coefficient, 3> stream_coefficients = {{
    {"start", 1.5, 0.2, 40, Scale::none, "us"},
    {"rate", 5000, 20, 1e6, Scale::multiprocessors, "elements/ns that the cores work off"},
    {"passes", 1, 0.1, 10, Scale::none, "times the memory's time of operands and results"},
}};

// Not what a lowering knows of operands: as in the table of measurements.
double stream_bytes(const Kernel& k) {
  return k.kind == KernelKind::elementwise ? static_cast<double>(k.elements) * k.passes * bytes_of(k.precision)
                                           : k.bytes;
}

double elements_of(const Kernel& k) {
  return k.kind == KernelKind::elementwise
             ? static_cast<double>(k.elements)
             : static_cast<double>(k.batch) * static_cast<double>(k.c) * static_cast<double>(k.h * k.w);
}

// The slower of the two, rounded where they meet.
double joined_us(double a, double b) { return std::sqrt(std::sqrt(a * a * a * a + b * b * b * b)); }

// Of a concatenation: every part has two blocks on each multiprocessor (PyTorch, Shape.cu), so that two parts run at a
// time, and each pair after the first takes as long as a kernel takes to start.
double starts_of(const Kernel& k) {
  if (k.op != KernelOp::cat_channels && k.op != KernelOp::cat_qkv) return 1;
  const std::int64_t measured = k.op == KernelOp::cat_qkv ? 3 : 2;
  return static_cast<double>(std::max<std::int64_t>(2, k.parts > 0 ? k.parts : measured)) / 2;
}

double stream_us(const KernelLaws& laws, const Kernel& k, const Coefficients& c) {
  return c[0] * starts_of(k) + joined_us(elements_of(k) / c[1], c[2] * memory_us(laws.memory, stream_bytes(k)));
}

double cold_stream_us(const KernelLaws& laws, const Kernel& k, const Coefficients& c) {
  return c[0] * starts_of(k) + joined_us(elements_of(k) / c[1], c[2] * cold_memory_us(laws.memory, stream_bytes(k)));
}

}  // namespace

const LawForm stream_form = {"stream", stream_coefficients, stream_us};
const LawForm cold_stream_form = {"cold stream", stream_coefficients, cold_stream_us};

}  // namespace monet
