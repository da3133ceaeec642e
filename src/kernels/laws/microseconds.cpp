#include "kernels/laws.h"

#include "kernels/laws/forms.h"

#include <algorithm>
#include <cmath>

namespace monet {

namespace {

// A class that is measured more often and whose law holds for this one too.
std::optional<KernelClass> relative_of(const KernelClass& of) {
  KernelClass result = of;
  if (of.variant == KernelVariant::cold) {
    result.variant = KernelVariant::plain;
  } else if (of.kind == KernelKind::optimizer && of.op == KernelOp::adamw) {
    result.op = KernelOp::adam;
  } else if (of.kind == KernelKind::elementwise && of.op != KernelOp::add && of.op != KernelOp::mul_scalar) {
    result.op = KernelOp::add;
  } else if (of.kind == KernelKind::convolution && of.precision == KernelPrecision::tf32 &&
             of.variant == KernelVariant::channels_last) {
    result.variant = KernelVariant::windows;
  } else if (of.variant == KernelVariant::grouped) {
    result.variant = KernelVariant::windows;
  } else if (of.variant == KernelVariant::depthwise_last && of.precision == KernelPrecision::tf32) {
    result.precision = KernelPrecision::fp32;
  } else {
    return std::nullopt;
  }
  return result;
}

double by_class(const KernelLaws& laws, const Kernel& kernel, const KernelClass& kernel_class) {
  const LawForm& form = form_of(kernel_class);
  const ClassLaw* law = laws.find(kernel_class);
  if (law == nullptr) {
    if (const auto relative = relative_of(kernel_class)) return by_class(laws, kernel, *relative);
    return form.us(laws, kernel, default_coefficients(laws, kernel_class));
  }
  return form.us(laws, kernel, law->coefficients) * law->residual.factor(shape_of(kernel));
}

// Cold operands cost what lies between the time and the ceiling of operations.
double with_cold_operands(const KernelLaws& laws, const Kernel& kernel, double us) {
  const auto precision = static_cast<std::size_t>(kernel.precision);
  const double cold_bytes = kernel.bytes * kernel.cold_share;
  if (kernel.kind != KernelKind::batch_norm && kernel.kind != KernelKind::optimizer) {
    const double used = std::min(1.0, kernel.flops / (laws.ceiling[precision] * us));
    us *= 1 + cold_slowdown(laws, kernel) * (1 - used) * kernel.cold_share;
  }
  return std::max(us, cold_memory_us(laws.memory, cold_bytes));
}

}  // namespace

bool has_cold_class(const Kernel& kernel) {
  switch (kernel.kind) {
    case KernelKind::layer_norm:
    case KernelKind::softmax:
    case KernelKind::log_softmax:
    case KernelKind::elementwise: return true;
    default: return false;
  }
}

double cold_slowdown(const KernelLaws& laws, const Kernel& kernel) {
  const auto precision = static_cast<std::size_t>(kernel.precision);
  const double many = laws.cold_slowdown[precision];
  return many + (1 - busy_share(laws, kernel)) * std::max(0.0, laws.cold_waiting[precision] - many);
}

const ClassLaw* KernelLaws::find(const KernelClass& kernel_class) const {
  const auto found = std::lower_bound(classes.begin(), classes.end(), kernel_class,
                                      [](const ClassLaw& law, const KernelClass& c) { return law.kernel_class < c; });
  return found != classes.end() && found->kernel_class == kernel_class ? &*found : nullptr;
}

const ClassLaw* applied_law(const KernelLaws& laws, KernelClass kernel_class) {
  for (;;) {
    if (const ClassLaw* law = laws.find(kernel_class)) return law;
    const auto relative = relative_of(kernel_class);
    if (!relative) return nullptr;
    kernel_class = *relative;
  }
}

void complete(KernelLaws& laws) {
  std::sort(laws.classes.begin(), laws.classes.end(),
            [](const ClassLaw& a, const ClassLaw& b) { return a.kernel_class < b.kernel_class; });
  for (ClassLaw& law : laws.classes) {
    const LawForm& form = form_of(law.kernel_class);
    std::vector<KernelShape> shapes;
    std::vector<double> logs;
    for (const MeasuredKernel& point : law.measured) {
      shapes.push_back(shape_of(point.kernel));
      logs.push_back(std::log(point.us / form.us(laws, point.kernel, law.coefficients)));
    }
    law.residual = Residual(std::move(shapes), std::move(logs), law.nearness);
  }
}

double microseconds(const KernelLaws& laws, const Kernel& given) {
  Kernel kernel = given;
  derive_sizes(kernel);
  KernelClass kernel_class = class_of(kernel);
  const double warm = by_class(laws, kernel, kernel_class);
  if (kernel.cold_share <= 0) return warm;
  if (!has_cold_class(kernel)) return with_cold_operands(laws, kernel, warm);
  kernel_class.variant = KernelVariant::cold;
  const double cold = std::max(warm, by_class(laws, kernel, kernel_class));
  return warm + std::min(1.0, kernel.cold_share) * (cold - warm);
}

}  // namespace monet
