#include "evaluate/kernels/kernel_bound.h"

#include <algorithm>

namespace monet {

namespace {

// Convolutions of windows that move by one can go through transforms: the most that is saved is by Fourier's on tiles
// of 64x64, the largest that libraries have (kernels named fft2d_r2c_64x64, in measured steps of an H200): half of a
// tile's complex products, four multiplications each, for (65 - h) (65 - w) sums. Winograd's save less: 36 for 16 sums
// of 3x3.
double least_multiplications(const Kernel& kernel) {
  constexpr double tile = 64;
  const auto h = static_cast<double>(kernel.kernel_h);
  const auto w = static_cast<double>(kernel.kernel_w);
  const bool can_transform = kernel.kind == KernelKind::convolution && kernel.precision == KernelPrecision::fp32 &&
                             kernel.stride == 1 && h <= tile && w <= tile;
  if (!can_transform) return kernel.flops;
  const double a_sum = 2 * tile * tile / ((tile + 1 - h) * (tile + 1 - w));
  return kernel.flops * std::min(1.0, a_sum / (h * w));
}

double stated_bytes_per_us(const Hardware& hardware) {
  double bits = 0;
  for (const Level& level : hardware[kernel_core(hardware)].levels) {
    const Memory& memory = hardware[level.memory];
    // Those that all multiprocessors share: what a launch reads and writes passes through them.
    const bool shared = std::ranges::none_of(
        hardware.cores, [&](const Core& core) { return memory.name.starts_with(core.name + "/"); });
    if (!shared) continue;
    for (const Port& port : memory.ports) bits = std::max(bits, port.bits_per_cycle());
  }
  return bits * hardware.clock_hz / 8e6;
}

}  // namespace

KernelRoof::KernelRoof(const Hardware& hardware, const KernelLaws& laws) {
  for (std::size_t i = 0; i < kernel_precisions; ++i) {
    flops_per_us_[i] = laws.ceiling[i];
    for (const StatedPeak& peak : hardware.peaks) {
      if (peak.precision == name_of(static_cast<KernelPrecision>(i)))
        flops_per_us_[i] = std::max(flops_per_us_[i], peak.operations_per_s / 1e6);
    }
  }
  for (const ClassLaw& law : laws.classes) {
    double& best = flops_per_us_[static_cast<std::size_t>(law.kernel_class.precision)];
    for (const MeasuredKernel& point : law.measured) {
      Kernel kernel = point.kernel;
      derive_sizes(kernel);
      best = std::max(best, least_multiplications(kernel) / point.us);
    }
  }
  bytes_per_us_ =
      std::max({stated_bytes_per_us(hardware), laws.top_rate, laws.memory.memory_rate, laws.memory.cache_rate});
}

double KernelRoof::operations_us(const Kernel& kernel) const {
  return least_multiplications(kernel) / flops_per_us_[static_cast<std::size_t>(kernel.precision)];
}

double KernelRoof::least_us(const Kernel& kernel) const {
  // A gather touches a table of which it reads some rows.
  Kernel by_shape = kernel;
  by_shape.bytes = 0;
  derive_sizes(by_shape);
  return std::max(operations_us(kernel), bytes_us(std::min(kernel.bytes, by_shape.bytes)));
}

std::vector<OperatorBound> kernel_bounds(const Hardware& hardware, const KernelStep& step, const KernelLaws& laws) {
  const KernelRoof roof(hardware, laws);
  std::vector<OperatorBound> bounds(step.graph.nodes().size());
  for (const Launch& launch : step.lowered.launches) {
    if (launch.collective) continue;
    Kernel kernel = launch.kernel;
    derive_sizes(kernel);
    OperatorBound& bound = bounds[launch.cause.index()];
    bound.core_cycles += roof.operations_us(kernel) * 1e-6 * hardware.clock_hz;
    bound.cores = {kernel_core(hardware)};
  }
  return bounds;
}

double compulsory_us(const Hardware& hardware, const KernelStep& step, const KernelLaws& laws) {
  double bytes = 0;
  const std::vector<BufferLife> lives = buffer_lives(step.lowered);
  for (std::size_t i = 0; i < lives.size(); ++i) {
    const Allocation& buffer = step.lowered.buffers[i];
    if (buffer.permanent && lives[i].used) bytes += static_cast<double>(buffer.bytes);
  }
  return KernelRoof(hardware, laws).bytes_us(bytes);
}

}  // namespace monet
