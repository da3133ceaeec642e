#include "kernels/laws/forms.h"

#include <algorithm>
#include <cmath>

namespace monet {

namespace {

constexpr double max_chunk = 65536;  // elements of a block (PyTorch, multi_tensor_apply)
constexpr std::size_t max_chunks = 320;

constexpr std::array<Coefficient, 4> optimizer_coefficients = {{
    {"start", 2.5, 0.2, 30, Scale::none, "us of a launch"},
    {"element", 0.0005, 1e-6, 0.01, Scale::none, "us of an element of a block"},
    {"rate", 0.8, 0.05, 3, Scale::memory, "TB/s"},
    {"counters", 0.015, 1e-4, 0.2, Scale::none, "us of a tensor's step counter"},
}};

std::size_t tensors_of_launch(KernelOp op) { return op == KernelOp::momentum ? 48 : op == KernelOp::sgd ? 1 : 36; }

// Launches over lists: as many tensors and blocks as the arguments of one have room for.
double optimizer_us(const KernelLaws& /*laws*/, const Kernel& k, const Coefficients& c) {
  const std::size_t most = tensors_of_launch(k.op);
  const double passes = k.op == KernelOp::sgd ? 3 : k.op == KernelOp::momentum ? 5 : 7;
  const double width = passes * bytes_of(k.precision);
  double us = static_cast<double>(k.tensors.size()) * c[3];
  double elements = 0, largest = 0;
  std::size_t tensors = 0, chunks = 0;
  const auto launch = [&] {
    if (chunks > 0) us += c[0] + std::max(largest * c[1], elements * width / c[2]);
    elements = largest = 0;
    tensors = chunks = 0;
  };
  for (const std::int64_t tensor : k.tensors) {
    double left = static_cast<double>(tensor);
    ++tensors;
    if (k.op == KernelOp::sgd) {  // one kernel of its own, not cut into blocks
      elements = left;
      chunks = 1;
      launch();
      continue;
    }
    while (left > 0) {
      // Whole launches of one large tensor at once.
      const double room = static_cast<double>(max_chunks - chunks) * max_chunk;
      const double taken = std::min(left, room);
      elements += taken;
      largest = std::max(largest, std::min(taken, max_chunk));
      chunks += static_cast<std::size_t>(std::ceil(taken / max_chunk));
      left -= taken;
      if (chunks >= max_chunks) {
        launch();
        if (left > 0) tensors = 1;
      }
    }
    if (tensors >= most) launch();
  }
  launch();
  return us;
}

}  // namespace

const LawForm optimizer_form = {"optimizer", optimizer_coefficients, optimizer_us};

}  // namespace monet
