#include "kernels/laws/forms.h"

#include <algorithm>

namespace monet {

namespace {

constexpr std::array<Coefficient, 3> rows_coefficients = {{
    {"start", 3, 0.1, 30, Scale::none, "us"},
    {"row", 0.001, 1e-6, 0.1, Scale::none, "us of a row"},
    {"passes", 1.2, 0.2, 8, Scale::none, "times the memory's time of operands and results"},
}};

// The forward pass of a negative log-likelihood is one block, whose threads share the rows.
double rows_of(const Kernel& k) {
  constexpr double threads = 1024;
  const auto rows = static_cast<double>(k.rows);
  return k.kind == KernelKind::nll && k.part == KernelPart::forward ? std::min(rows, threads) : rows;
}

// Softmax reads rows again that do not fit its registers, and its gradient makes a product of its own first.
double row_bytes(const Kernel& k) {
  if (k.kind == KernelKind::nll) return k.bytes;
  const bool forward = k.part == KernelPart::forward;
  double passes = forward ? 2 : 3;
  if (k.kind == KernelKind::softmax || k.kind == KernelKind::log_softmax) {
    if (k.columns > 1024) passes += 1;
    if (k.kind == KernelKind::softmax && !forward) passes += 3;
  }
  return passes * static_cast<double>(k.rows) * static_cast<double>(k.columns) * bytes_of(k.precision);
}

double rows_us(const KernelLaws& laws, const Kernel& k, const Coefficients& c) {
  return c[0] + rows_of(k) * c[1] + c[2] * memory_us(laws.memory, row_bytes(k));
}

double cold_rows_us(const KernelLaws& laws, const Kernel& k, const Coefficients& c) {
  return c[0] + rows_of(k) * c[1] + c[2] * cold_memory_us(laws.memory, row_bytes(k));
}

}  // namespace

const LawForm rows_form = {"rows", rows_coefficients, rows_us};
const LawForm cold_rows_form = {"cold rows", rows_coefficients, cold_rows_us};

}  // namespace monet
