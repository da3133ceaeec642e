#include "kernels/laws/forms.h"

#include <algorithm>

namespace monet {

namespace {

constexpr std::array<Coefficient, 3> rows_coefficients = {{
    {"start", 3, 0.1, 30, Scale::none, "us"},
    {"row", 0.001, 1e-6, 0.1, Scale::none, "us of a row"},
    {"passes", 1.2, 0.2, 8, Scale::none, "times the memory's time of operands and results"},
}};

// The same for sums, which read every element once.
constexpr std::array<Coefficient, 3> sum_coefficients = {{
    {"start", 3, 0.1, 30, Scale::none, "us"},
    {"row", 0.001, 1e-6, 0.1, Scale::none, "us of a row"},
    {"passes", 1, 0.9, 1.2, Scale::none, "times the memory's time of what is summed"},
}};

// How many results a mean of each image and channel has.
double results_of(const Kernel& k) {
  if (k.columns > 0) return static_cast<double>(k.columns);
  return static_cast<double>(k.elements) / static_cast<double>(std::max<std::int64_t>(1, k.h * k.w));
}

// The forward pass of a negative log-likelihood is one block, whose threads share the rows; a sum to columns goes down
// them; a mean has a row for each result.
double rows_of(const Kernel& k) {
  constexpr double threads = 1024;
  if (k.op == KernelOp::mean_23) return results_of(k);
  if (k.op == KernelOp::sum_rows) {
    return static_cast<double>(k.elements) / static_cast<double>(std::max<std::int64_t>(1, k.columns));
  }
  const auto rows = static_cast<double>(k.rows);
  return k.kind == KernelKind::nll && k.part == KernelPart::forward ? std::min(rows, threads) : rows;
}

// Softmax reads rows again that do not fit its registers, and its gradient makes a product of its own first.
double row_bytes(const Kernel& k) {
  if (k.kind == KernelKind::nll) return k.bytes;
  if (k.kind == KernelKind::elementwise) return static_cast<double>(k.elements) * bytes_of(k.precision);
  const bool forward = k.part == KernelPart::forward;
  double passes = forward ? 2 : 3;
  if (k.kind == KernelKind::softmax || k.kind == KernelKind::log_softmax) {
    if (k.columns > 1024) passes += 1;
    if (k.kind == KernelKind::softmax && !forward) passes += 3;
  }
  return passes * static_cast<double>(k.rows) * static_cast<double>(k.columns) * bytes_of(k.precision);
}

// Where blocks share the rows of a sum, a launch clears what they add to.
double starts_of_rows(const Kernel& k) { return k.op == KernelOp::sum_rows && rows_of(k) >= 1024 ? 2 : 1; }

double rows_us(const KernelLaws& laws, const Kernel& k, const Coefficients& c) {
  return c[0] * starts_of_rows(k) + rows_of(k) * c[1] + c[2] * memory_us(laws.memory, row_bytes(k));
}

double cold_rows_us(const KernelLaws& laws, const Kernel& k, const Coefficients& c) {
  return c[0] * starts_of_rows(k) + rows_of(k) * c[1] + c[2] * cold_memory_us(laws.memory, row_bytes(k));
}

constexpr std::array<Coefficient, 4> norm_gradient_coefficients = {{
    {"start", 4, 0.1, 30, Scale::none, "us"},
    {"row", 0.001, 1e-6, 0.1, Scale::none, "us of a row in the gradient of the input"},
    {"down", 0.004, 1e-6, 0.1, Scale::none, "us of a row in the gradients of the parameters"},
    {"passes", 1.2, 0.1, 8, Scale::none, "times the memory's time of operands and results"},
}};

// Gradients of the parameters sum down the rows: above 65536 of them, where columns leave multiprocessors idle, blocks
// share them (PyTorch, layer_norm_kernel.cu).
double norm_gradient_us(const KernelLaws& laws, const Kernel& k, const Coefficients& c) {
  const auto rows = static_cast<double>(k.rows);
  const bool shared = k.rows > 65536 && static_cast<double>(k.columns) / 32 < laws.multiprocessors / 2;
  const double memory =
      k.cold_share > 0 ? cold_memory_us(laws.memory, row_bytes(k)) : memory_us(laws.memory, row_bytes(k));
  return c[0] + rows * c[1] + (shared ? 0 : rows * c[2]) + c[3] * memory;
}

}  // namespace

const LawForm norm_gradient_form = {"norm gradient", norm_gradient_coefficients, norm_gradient_us};
const LawForm rows_form = {"rows", rows_coefficients, rows_us};
const LawForm sums_form = {"sums", sum_coefficients, rows_us};
const LawForm cold_sums_form = {"cold sums", sum_coefficients, cold_rows_us};
const LawForm cold_rows_form = {"cold rows", rows_coefficients, cold_rows_us};

}  // namespace monet
