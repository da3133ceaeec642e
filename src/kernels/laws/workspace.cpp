#include "kernels/laws.h"
#include "kernels/laws/tiles.h"

#include <algorithm>
#include <cmath>

namespace monet {

namespace {

double convolution_workspace(const KernelLaws& laws, const Kernel& k) {
  if (k.depthwise()) return 0;
  const bool pointwise = k.kernel_h == 1 && k.kernel_w == 1 && k.stride == 1;
  if (k.precision == KernelPrecision::fp32) {
    if (k.channels_last) return k.part == KernelPart::weight_gradient ? 0 : k.bytes;
    const KernelClass of = class_of(k);
    if (&form_of(of) != &winograd_form) return 0;
    const ClassLaw* law = laws.find(of);
    const double from = law != nullptr ? winograd_threshold(law->coefficients) : default_winograd_threshold();
    return is_winograd(k, from) ? winograd_bytes(k) : 0;
  }
  return k.channels_last || pointwise ? 0 : k.bytes;
}

// Parts of the sums of columns that blocks of rows leave behind (PyTorch's reduction).
double column_sum_workspace(const KernelLaws& laws, double rows, double columns) {
  if (rows < 1024 || std::fmod(columns, 4) != 0) return 0;
  const double resident = std::ceil(16 * laws.multiprocessors / std::ceil(columns / 128));
  const double parts = std::max(std::min(resident, std::ceil(rows / 64)), std::ceil(rows / 1024));
  return 4 * columns * 128 * parts;
}

}  // namespace

std::int64_t workspace_bytes(const KernelLaws& laws, const Kernel& given) {
  Kernel k = given;
  derive_sizes(k);
  double bytes = 0;
  if (k.kind == KernelKind::convolution) {
    bytes = convolution_workspace(laws, k);
  } else if (k.kind == KernelKind::softmax && k.part == KernelPart::backward) {
    bytes = static_cast<double>(k.rows) * static_cast<double>(k.columns) * bytes_of(k.precision);
  } else if (k.kind == KernelKind::attention && k.part == KernelPart::backward) {
    bytes = 2 * static_cast<double>(k.batch * k.heads * k.s) * static_cast<double>(k.d) * bytes_of(k.precision);
  } else if (k.op == KernelOp::sum_rows) {
    bytes = column_sum_workspace(laws, static_cast<double>(k.rows), static_cast<double>(k.columns));
  } else if (k.op == KernelOp::embedding_backward && k.rows >= 4096) {
    bytes = 4.5 * static_cast<double>(k.elements);
  }
  return static_cast<std::int64_t>(bytes);
}

}  // namespace monet
