#include "kernels/kernel_class.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace monet {

namespace {

constexpr std::array<std::string_view, kernel_variants> variant_names = {
    "plain", "unaligned", "windows", "pointwise", "grouped", "channels_last", "depthwise", "depthwise_last", "cold"};

KernelVariant variant_of(const Kernel& kernel) {
  switch (kernel.kind) {
    case KernelKind::product: return kernel.aligned ? KernelVariant::plain : KernelVariant::unaligned;
    case KernelKind::convolution:
      if (kernel.depthwise()) return kernel.channels_last ? KernelVariant::depthwise_last : KernelVariant::depthwise;
      if (kernel.channels_last) return KernelVariant::channels_last;
      if (kernel.groups > 1) return KernelVariant::grouped;
      return kernel.kernel_h == 1 && kernel.kernel_w == 1 && kernel.stride == 1 ? KernelVariant::pointwise
                                                                                : KernelVariant::windows;
    case KernelKind::batch_norm: return kernel.channels_last ? KernelVariant::channels_last : KernelVariant::plain;
    default: return KernelVariant::plain;
  }
}

double log_of(double value) { return value >= 1 ? std::log(value) : -1; }
double log_of(std::int64_t value) { return log_of(static_cast<double>(value)); }

// Weights of wide depthwise windows on permuted tensors in 32 bits: another kernel of the library, whose measurements
// say nothing of narrow ones.
double far_if_wide(const Kernel& k) {
  constexpr double far = 30;
  const bool wide = k.depthwise() && k.channels_last && k.part == KernelPart::weight_gradient &&
                    k.precision != KernelPrecision::bf16 && k.kernel_h * k.kernel_w > 25;
  return wide ? far : 0;
}

}  // namespace

std::string_view name_of(KernelVariant variant) { return variant_names[static_cast<std::size_t>(variant)]; }

KernelClass class_of(const Kernel& kernel) {
  KernelClass result{kernel.kind, kernel.part, kernel.precision, kernel.op, variant_of(kernel)};
  // Numbers of 32 bits are multiplied as tf32 in products and dense convolutions alone.
  const bool dense =
      kernel.kind == KernelKind::product || (kernel.kind == KernelKind::convolution && !kernel.depthwise());
  // The library has a kernel of its own for weights of wide depthwise windows there.
  const bool wide = result.variant == KernelVariant::depthwise_last && result.part == KernelPart::weight_gradient;
  if (result.precision == KernelPrecision::tf32 && !dense && !wide) result.precision = KernelPrecision::fp32;
  return result;
}

std::string name_of(const KernelClass& kernel_class) {
  const auto& [kind, part, precision, op, variant] = kernel_class;
  std::string name =
      fmt::format("{}.{}.{}", name_of(kind), op != KernelOp::none ? name_of(op) : name_of(part), name_of(precision));
  if (variant != KernelVariant::plain) name += fmt::format(".{}", name_of(variant));
  return name;
}

std::optional<KernelClass> kernel_class_named(std::string_view name) {
  std::vector<std::string_view> words;
  while (!name.empty()) {
    const std::size_t end = std::min(name.find('.'), name.size());
    words.push_back(name.substr(0, end));
    name.remove_prefix(std::min(end + 1, name.size()));
  }
  if (words.size() < 3 || words.size() > 4) return std::nullopt;
  KernelClass result;
  const auto kind = kernel_kind_named(words[0]);
  const auto part = kernel_part_named(words[1]);
  const auto op = kernel_op_named(words[1]);
  const auto precision = kernel_precision_named(words[2]);
  if (!kind || (!part && !op) || !precision) return std::nullopt;
  result.kind = *kind;
  if (part) result.part = *part;
  if (op) result.op = *op;
  result.precision = *precision;
  if (words.size() == 4) {
    const auto variant = std::find(variant_names.begin(), variant_names.end(), words[3]);
    if (variant == variant_names.end()) return std::nullopt;
    result.variant = static_cast<KernelVariant>(variant - variant_names.begin());
  }
  return result;
}

KernelShape shape_of(const Kernel& k) {
  KernelShape shape;
  shape.fill(-1);
  switch (k.kind) {
    case KernelKind::product:
      return {log_of(k.batch), log_of(k.m), log_of(k.n), log_of(k.k), k.bias ? 1.0 : 0.0, -1, -1};
    case KernelKind::convolution:
      return {log_of(k.batch),
              log_of(k.c),
              log_of(k.o),
              log_of(k.h * k.w),
              log_of(k.kernel_h * k.kernel_w),
              log_of(k.stride * k.stride),
              log_of(k.groups) + far_if_wide(k)};
    case KernelKind::batch_norm: return {log_of(k.batch), log_of(k.c), log_of(k.h * k.w), -1, -1, -1, -1};
    case KernelKind::layer_norm:
    case KernelKind::softmax:
    case KernelKind::log_softmax:
    case KernelKind::nll: return {log_of(k.rows), log_of(k.columns), -1, -1, -1, -1, -1};
    case KernelKind::attention:
      return {log_of(k.batch * k.heads), log_of(k.s), log_of(k.keys), log_of(k.d), k.causal ? 2.0 : 0.0, -1, -1};
    case KernelKind::optimizer: {
      double elements = 0;
      for (const std::int64_t tensor : k.tensors) elements += static_cast<double>(tensor);
      const auto count = static_cast<double>(std::max<std::size_t>(k.tensors.size(), 1));
      return {log_of(elements / count), log_of(count), -1, -1, -1, -1, -1};
    }
    case KernelKind::elementwise:
      return {log_of(k.elements), log_of(k.c), log_of(k.h * k.w), log_of(k.columns), -1, -1, -1};
  }
  return shape;
}

double distance(const KernelShape& a, const KernelShape& b) {
  double sum = 0;
  for (std::size_t i = 0; i < shape_axes; ++i)
    if (a[i] >= 0 && b[i] >= 0) sum += std::abs(a[i] - b[i]);
  return sum;
}

}  // namespace monet
