// Which element-wise kernel the strides of operands make: vectorized, broadcast or permuted.
#include "kernels/lower/lowering.h"

#include <algorithm>

namespace monet::lowering {

namespace {

bool same_strides(const Operand& a, const Operand& b) {
  for (std::size_t i = 0; i < a.shape.size(); ++i) {
    if (a.shape[i] > 1 && a.strides[i] != b.strides[i]) return false;
  }
  return true;
}

// The axis along which elements follow each other; the rank where there is none.
std::size_t innermost(const Operand& operand) {
  for (std::size_t i = operand.shape.size(); i-- > 0;) {
    if (operand.shape[i] > 1 && operand.strides[i] == 1) return i;
  }
  return operand.shape.size();
}

// An operand in other strides than the result.
KernelOp permuting(const Operand& from, const Operand& to) {
  if (innermost(from) != innermost(to)) return KernelOp::bhds_to_bhsd;
  return is_dense(from) ? KernelOp::bshd_to_bhsd : KernelOp::qkv_slice_to_bhsd;
}

// An operand that stands for several elements of the result: `from` has its shape, with strides of 0.
KernelOp broadcasting(const Operand& from, bool alone) {
  std::size_t first = from.shape.size(), last = 0, varying = 0, sized = 0, last_sized = 0;
  for (std::size_t i = 0; i < from.shape.size(); ++i) {
    if (from.shape[i] <= 1) continue;
    ++sized;
    last_sized = i;
    if (from.strides[i] == 0) continue;
    first = std::min(first, i);
    last = i;
    ++varying;
  }
  if (varying == 0 || last != last_sized) {
    const bool leading = varying == 0 || sized == 0 || first == 0 || from.shape[0] == 1;
    if (leading) return alone ? KernelOp::expand_23_div : KernelOp::scale_nc11;
    return KernelOp::bias_nchw_inplace;
  }
  return varying == 1 ? KernelOp::row_bias : KernelOp::mask_add;
}

}  // namespace

Kernel elementwise_kernel(KernelOp op, std::span<const Operand> operands, const Operand& result) {
  Kernel kernel{.kind = KernelKind::elementwise, .op = op};
  kernel.elements = result.elements();
  const auto whole = [&](const Operand& each) { return each.shape == result.shape && !is_broadcast(each); };
  kernel.passes = 1 + static_cast<double>(std::ranges::count_if(operands, whole));
  for (const Operand& each : operands) {
    if (each.elements() == 1 || whole(each)) continue;
    kernel.op = broadcasting(expanded(each, result.shape), kernel.passes == 1);
    return kernel;
  }
  for (const Operand& each : operands) {
    if (each.elements() == 1 || same_strides(each, result)) continue;
    kernel.op = permuting(each, result);
    if (kernel.op == KernelOp::bhds_to_bhsd) return kernel;
  }
  if (kernel.op == KernelOp::cast) kernel.passes = 0;  // of two widths
  return kernel;
}

// It reads contiguous operands by vectors and others element by element, each with its place computed as in a permuted
// copy.
Kernel concat_kernel(std::span<const Operand> parts, const Operand& result, std::size_t axis) {
  Kernel kernel{.kind = KernelKind::elementwise, .op = KernelOp::bhds_to_bhsd};
  const bool last = is_channels_last(result) && std::ranges::all_of(parts, is_channels_last);
  if (last || std::ranges::all_of(parts, is_contiguous)) {
    kernel.op = axis + 1 == result.shape.size() ? KernelOp::cat_qkv : KernelOp::cat_channels;
    kernel.parts = static_cast<std::int64_t>(parts.size());
  }
  kernel.elements = result.elements();
  return kernel;
}

Kernel copy_kernel(const Operand& from, const Operand& to) {
  if (from.shape.size() == 4 && is_contiguous(to) && !is_contiguous(from)) {
    Kernel kernel{.kind = KernelKind::elementwise, .op = KernelOp::nhwc_to_nchw};
    kernel.elements = to.elements();
    if (is_channels_last(from)) return kernel;
    kernel.op = KernelOp::nchw_to_nhwc;
    if (is_contiguous(permuted(from, {0, 3, 1, 2}))) return kernel;
  }
  return elementwise_kernel(KernelOp::copy, std::span(&from, 1), to);
}

}  // namespace monet::lowering
