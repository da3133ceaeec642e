#include "kernels/kernel.h"

#include <algorithm>
#include <array>

namespace monet {

namespace {

constexpr std::array<std::string_view, kernel_kinds> kind_names = {
    "product",     "convolution", "batch_norm", "layer_norm", "softmax",
    "log_softmax", "nll",         "attention",  "optimizer",  "elementwise"};
constexpr std::array<std::string_view, kernel_parts> part_names = {"forward", "input_gradient", "weight_gradient",
                                                                   "backward"};
constexpr std::array<std::string_view, kernel_precisions> precision_names = {"fp32", "tf32", "bf16"};
constexpr std::array<std::string_view, kernel_ops> op_names = {"none",
                                                               "add",
                                                               "add_inplace",
                                                               "mul_scalar",
                                                               "cast",
                                                               "copy",
                                                               "fill",
                                                               "relu",
                                                               "relu_backward",
                                                               "gelu",
                                                               "gelu_backward",
                                                               "sigmoid",
                                                               "silu",
                                                               "silu_backward",
                                                               "bias_nchw_inplace",
                                                               "scale_nc11",
                                                               "expand_23_div",
                                                               "row_bias",
                                                               "mask_add",
                                                               "nchw_to_nhwc",
                                                               "nhwc_to_nchw",
                                                               "bshd_to_bhsd",
                                                               "bhds_to_bhsd",
                                                               "qkv_slice_to_bhsd",
                                                               "cat_channels",
                                                               "cat_qkv",
                                                               "sum",
                                                               "sum_023",
                                                               "mean_23",
                                                               "sum_rows",
                                                               "max_pool_2",
                                                               "max_pool_2_backward",
                                                               "max_pool_3s2",
                                                               "max_pool_3s2_backward",
                                                               "max_pool_3s1",
                                                               "max_pool_3s1_backward",
                                                               "avg_pool_2",
                                                               "avg_pool_2_backward",
                                                               "avg_pool_3s1",
                                                               "avg_pool_3s1_backward",
                                                               "adaptive_avg_pool_7",
                                                               "embedding",
                                                               "embedding_backward",
                                                               "sgd",
                                                               "momentum",
                                                               "adam",
                                                               "adamw"};

template <typename Enum, std::size_t size>
std::optional<Enum> named(const std::array<std::string_view, size>& names, std::string_view name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<Enum>(found - names.begin());
}

static_assert(!op_names.back().empty() && !kind_names.back().empty());

double real(std::int64_t value) { return static_cast<double>(value); }

// How often an element-wise kernel reads or writes its elements.
double passes_of(const Kernel& k) {
  switch (k.op) {
    case KernelOp::add:
    case KernelOp::add_inplace:
    case KernelOp::relu_backward:
    case KernelOp::gelu_backward:
    case KernelOp::silu_backward: return 3;
    case KernelOp::cast: return 6 / bytes_of(k.precision);  // four bytes on one side, two on the other
    case KernelOp::fill:
    case KernelOp::expand_23_div:
    case KernelOp::sum:
    case KernelOp::sum_023:
    case KernelOp::mean_23:
    case KernelOp::sum_rows:
    case KernelOp::adaptive_avg_pool_7: return 1;
    case KernelOp::max_pool_2:
    case KernelOp::max_pool_3s2:
    case KernelOp::avg_pool_2:
    case KernelOp::avg_pool_2_backward: return 1.25;
    case KernelOp::max_pool_3s1:
    case KernelOp::max_pool_3s1_backward: return 2 + 8 / bytes_of(k.precision);  // with 64-bit indices
    case KernelOp::max_pool_2_backward:
    case KernelOp::max_pool_3s2_backward: return 1.25 + 2 / bytes_of(k.precision);  // with 64-bit indices
    default: return 2;
  }
}

// Elements of operands and results, each once.
double elements_moved(const Kernel& k) {
  switch (k.kind) {
    case KernelKind::product:
      return real(k.batch) * (real(k.m) * real(k.k) + real(k.k) * real(k.n) + real(k.m) * real(k.n));
    case KernelKind::convolution:
      return real(k.batch) * (real(k.c) * real(k.h) * real(k.w) + real(k.o) * real(k.oh) * real(k.ow)) +
             real(k.o) * real(k.c) / real(k.groups) * real(k.kernel_h) * real(k.kernel_w);
    case KernelKind::batch_norm:
      return (k.part == KernelPart::forward ? 2 : 3) * real(k.batch) * real(k.c) * real(k.h) * real(k.w);
    case KernelKind::layer_norm:
    case KernelKind::softmax:
    case KernelKind::log_softmax: return (k.part == KernelPart::forward ? 2 : 3) * real(k.rows) * real(k.columns);
    // One number of each row is read; in the gradient all are written.
    case KernelKind::nll: return real(k.rows) * (k.part == KernelPart::forward ? 1 : real(k.columns));
    case KernelKind::attention:
      return (k.part == KernelPart::forward ? 1 : 2) * 2 * real(k.batch) * real(k.heads) * real(k.d) *
             (real(k.s) + real(k.keys));
    case KernelKind::optimizer: {
      double elements = 0;
      for (const std::int64_t tensor : k.tensors) elements += real(tensor);
      return elements * (k.op == KernelOp::sgd ? 3 : k.op == KernelOp::momentum ? 5 : 7);
    }
    case KernelKind::elementwise: return real(k.elements) * k.passes;
  }
  return 0;
}

}  // namespace

std::string_view name_of(KernelKind kind) { return kind_names[static_cast<std::size_t>(kind)]; }
std::string_view name_of(KernelPart part) { return part_names[static_cast<std::size_t>(part)]; }
std::string_view name_of(KernelPrecision precision) { return precision_names[static_cast<std::size_t>(precision)]; }
std::string_view name_of(KernelOp op) { return op_names[static_cast<std::size_t>(op)]; }
std::optional<KernelKind> kernel_kind_named(std::string_view name) { return named<KernelKind>(kind_names, name); }
std::optional<KernelPart> kernel_part_named(std::string_view name) { return named<KernelPart>(part_names, name); }
std::optional<KernelPrecision> kernel_precision_named(std::string_view name) {
  return named<KernelPrecision>(precision_names, name);
}
std::optional<KernelOp> kernel_op_named(std::string_view name) { return named<KernelOp>(op_names, name); }

void set_same_padding(Kernel& kernel) {
  const auto out = [&](std::int64_t size, std::int64_t window) {
    return std::max<std::int64_t>(1, (size + 2 * (window / 2) - window) / kernel.stride + 1);
  };
  kernel.oh = out(kernel.h, kernel.kernel_h);
  kernel.ow = out(kernel.w, kernel.kernel_w);
}

void derive_sizes(Kernel& kernel) {
  if (kernel.kind == KernelKind::elementwise && kernel.passes == 0) kernel.passes = passes_of(kernel);
  if (kernel.bytes == 0) kernel.bytes = elements_moved(kernel) * bytes_of(kernel.precision);
  if (kernel.flops != 0) return;
  if (kernel.kind == KernelKind::product) {
    kernel.flops = 2 * real(kernel.batch) * real(kernel.m) * real(kernel.n) * real(kernel.k);
  } else if (kernel.kind == KernelKind::convolution) {
    kernel.flops = 2 * real(kernel.batch) * real(kernel.o) * real(kernel.oh) * real(kernel.ow) * real(kernel.c) /
                   real(kernel.groups) * real(kernel.kernel_h) * real(kernel.kernel_w);
  } else if (kernel.kind == KernelKind::attention) {
    kernel.flops = 4 * real(kernel.batch) * real(kernel.heads) * real(kernel.d) * real(kernel.s) * real(kernel.keys) *
                   (kernel.causal ? 0.5 : 1) * (kernel.part == KernelPart::forward ? 1 : 2.5);
  }
}

}  // namespace monet
