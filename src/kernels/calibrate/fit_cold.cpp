#include "kernels/calibrate/fit.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace monet {

namespace {

bool is_reduction(const Kernel& k) {
  return k.op == KernelOp::sum_023 || k.op == KernelOp::mean_23 || k.op == KernelOp::sum_rows ||
         k.kind == KernelKind::layer_norm;
}

}  // namespace

void fit_cold_slowdown(KernelLaws& laws, const std::vector<MeasuredKernel>& kernels) {
  std::map<std::tuple<KernelClass, KernelShape>, double> warm;
  const auto key = [](const Kernel& k) { return std::tuple(class_of(k), shape_of(k)); };
  for (const MeasuredKernel& point : kernels)
    if (is_reduction(point.kernel) && point.kernel.cold_share == 0) warm[key(point.kernel)] = point.us;
  std::array<double, kernel_precisions> sum{}, count{};
  for (const MeasuredKernel& point : kernels) {
    const Kernel& k = point.kernel;
    const auto found = warm.find(key(k));
    const bool middle = k.bytes > laws.memory.cache_until / 30 && k.bytes < laws.memory.cache_until;
    if (!is_reduction(k) || k.cold_share == 0 || !middle || found == warm.end()) continue;
    sum[static_cast<std::size_t>(k.precision)] += std::max(0.0, point.us / found->second - 1);
    count[static_cast<std::size_t>(k.precision)] += 1;
  }
  for (std::size_t i = 0; i < kernel_precisions; ++i)
    if (count[i] > 0) laws.cold_slowdown[i] = sum[i] / count[i];
  // Tensors of tf32 are those of fp32.
  const auto fp32 = static_cast<std::size_t>(KernelPrecision::fp32),
             tf32 = static_cast<std::size_t>(KernelPrecision::tf32);
  laws.cold_slowdown[tf32] = laws.cold_slowdown[fp32];
}

}  // namespace monet
