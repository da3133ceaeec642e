// Kernels that share coefficients and whose measurements speak for each other.
#pragma once

#include "kernels/kernel.h"

#include <array>
#include <string>

namespace monet {

// How the shape or the place of its operands changes what a kernel is.
enum class KernelVariant : std::uint8_t {
  plain,
  unaligned,       // products
  windows,         // convolutions on channels-first tensors: kernel or stride above 1
  pointwise,       // the same, 1 × 1 with stride 1
  grouped,         // the same, with more than one group, whatever the window
  channels_last,   // convolutions and batch norms
  depthwise,       // on channels-first tensors
  depthwise_last,  // on channels-last tensors
  cold,            // operands come from DRAM
};
constexpr std::size_t kernel_variants = 9;
std::string_view name_of(KernelVariant variant);

struct KernelClass {
  KernelKind kind = KernelKind::elementwise;
  KernelPart part = KernelPart::forward;
  KernelPrecision precision = KernelPrecision::fp32;
  KernelOp op = KernelOp::none;
  KernelVariant variant = KernelVariant::plain;

  auto operator<=>(const KernelClass&) const = default;
};

// With operands in a cache.
KernelClass class_of(const Kernel& kernel);
// "convolution.forward.bf16.windows", "elementwise.add.fp32.cold"
std::string name_of(const KernelClass& kernel_class);
std::optional<KernelClass> kernel_class_named(std::string_view name);

// Logarithms of the sizes in which kernels of one class differ; below 0: not known, so that it does not count.
constexpr std::size_t shape_axes = 7;
using KernelShape = std::array<double, shape_axes>;
KernelShape shape_of(const Kernel& kernel);
double distance(const KernelShape& a, const KernelShape& b);

}  // namespace monet
