#include "kernels/calibrate/fit.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace monet {

namespace {

// A kernel that was measured on operands in the cache and from memory.
struct WarmAndCold {
  Kernel kernel;
  double warm_us = 0, cold_us = 0;
};

std::vector<WarmAndCold> measured_twice(const std::vector<MeasuredKernel>& kernels,
                                        bool (*wanted)(const Kernel& kernel)) {
  std::map<std::tuple<KernelClass, KernelShape>, double> warm;
  const auto key = [](const Kernel& k) { return std::tuple(class_of(k), shape_of(k)); };
  for (const MeasuredKernel& point : kernels)
    if (wanted(point.kernel) && point.kernel.cold_share == 0) warm[key(point.kernel)] = point.us;
  std::vector<WarmAndCold> result;
  for (const MeasuredKernel& point : kernels) {
    if (!wanted(point.kernel) || point.kernel.cold_share == 0) continue;
    const auto found = warm.find(key(point.kernel));
    if (found != warm.end()) result.push_back({point.kernel, found->second, point.us});
  }
  return result;
}

bool is_reduction(const Kernel& k) {
  return k.op == KernelOp::sum_023 || k.op == KernelOp::mean_23 || k.op == KernelOp::sum_rows ||
         k.kind == KernelKind::layer_norm;
}

bool multiplies(const Kernel& k) { return k.kind == KernelKind::product || k.kind == KernelKind::convolution; }

// The two slowdowns of a precision under which kernels that were measured both ways are off least.
void fit_slowdowns(KernelLaws& laws, std::size_t precision, const std::vector<WarmAndCold>& pairs) {
  constexpr double step = 0.01, most = 1;
  const auto error_of = [&] {
    double sum = 0;
    for (const WarmAndCold& each : pairs) {
      const double used = std::min(1.0, each.kernel.flops / (laws.ceiling[precision] * each.warm_us));
      const double slower = each.warm_us * (1 + cold_slowdown(laws, each.kernel) * (1 - used));
      sum += std::abs(std::log(std::max(slower, cold_memory_us(laws.memory, each.kernel.bytes)) / each.cold_us));
    }
    return sum;
  };
  double least = INFINITY;
  std::pair<double, double> best{0, 0};
  for (int many = 0; many * step <= most / 2; ++many) {
    for (int few = many; few * step <= most; few += 2) {
      laws.cold_slowdown[precision] = many * step;
      laws.cold_waiting[precision] = few * step;
      if (const double error = error_of(); error < least) {
        least = error;
        best = {many * step, few * step};
      }
    }
  }
  std::tie(laws.cold_slowdown[precision], laws.cold_waiting[precision]) = best;
}

}  // namespace

void fit_cold_slowdown(KernelLaws& laws, const std::vector<MeasuredKernel>& kernels) {
  // Where no product was measured cold: as reductions of middle size.
  std::array<double, kernel_precisions> sum{}, count{};
  for (const WarmAndCold& each : measured_twice(kernels, is_reduction)) {
    const Kernel& k = each.kernel;
    if (k.bytes <= laws.memory.cache_until / 30 || k.bytes >= laws.memory.cache_until) continue;
    sum[static_cast<std::size_t>(k.precision)] += std::max(0.0, each.cold_us / each.warm_us - 1);
    count[static_cast<std::size_t>(k.precision)] += 1;
  }
  for (std::size_t i = 0; i < kernel_precisions; ++i)
    if (count[i] > 0) laws.cold_slowdown[i] = sum[i] / count[i];
  // Tensors of tf32 are those of fp32.
  const auto fp32 = static_cast<std::size_t>(KernelPrecision::fp32),
             tf32 = static_cast<std::size_t>(KernelPrecision::tf32);
  laws.cold_slowdown[tf32] = laws.cold_slowdown[fp32];
  laws.cold_waiting = laws.cold_slowdown;
  std::array<std::vector<WarmAndCold>, kernel_precisions> products;
  for (WarmAndCold& each : measured_twice(kernels, multiplies))
    products[static_cast<std::size_t>(each.kernel.precision)].push_back(std::move(each));
  for (std::size_t i = 0; i < kernel_precisions; ++i)
    if (products[i].size() >= 12) fit_slowdowns(laws, i, products[i]);
}

}  // namespace monet
