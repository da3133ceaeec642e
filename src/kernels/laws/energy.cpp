#include "kernels/laws.h"
#include "kernels/laws/forms.h"

#include <algorithm>
#include <cmath>

namespace monet {

namespace {

double number_of(std::int64_t value) { return static_cast<double>(value); }
double blocks_of(double m, double n) { return std::ceil(m / 64) * std::ceil(n / 64); }

// Bound by the plain cores rather than by memory or tensor cores.
bool is_scalar(const Kernel& k) {
  if (k.kind == KernelKind::convolution) return k.depthwise();
  if (k.kind == KernelKind::product) return !k.aligned;
  const bool transcendental = k.op == KernelOp::gelu || k.op == KernelOp::gelu_backward || k.op == KernelOp::silu ||
                              k.op == KernelOp::silu_backward || k.op == KernelOp::sigmoid;
  return transcendental && k.precision == KernelPrecision::bf16;
}

// Convolutions that copy their operands into another layout and back move them three times; the forward pass of a batch
// norm reads its input once more.
double bytes_moved(const Kernel& k) {
  if (k.kind == KernelKind::batch_norm && k.part == KernelPart::forward) return 1.5 * k.bytes;
  const bool copied = k.kind == KernelKind::convolution && !k.channels_last && !k.depthwise() &&
                      k.precision != KernelPrecision::fp32 && k.kernel_h * k.kernel_w * k.stride > 1;
  return copied ? 3 * k.bytes : k.bytes;
}

}  // namespace

double busy_share(const KernelLaws& laws, const Kernel& k) {
  double blocks = 0;
  switch (k.kind) {
    case KernelKind::product: blocks = number_of(k.batch) * blocks_of(number_of(k.m), number_of(k.n)); break;
    case KernelKind::convolution:
      blocks = k.part == KernelPart::weight_gradient  ? laws.multiprocessors
               : k.part == KernelPart::input_gradient ? blocks_of(number_of(k.batch * k.h * k.w), number_of(k.c))
                                                      : blocks_of(number_of(k.batch * k.oh * k.ow), number_of(k.o));
      break;
    case KernelKind::batch_norm: blocks = number_of(k.c); break;
    case KernelKind::layer_norm:
    case KernelKind::softmax:
    case KernelKind::log_softmax:
    case KernelKind::nll: blocks = number_of(k.rows); break;
    case KernelKind::attention: blocks = number_of(k.batch * k.heads) * std::ceil(number_of(k.s) / 128); break;
    case KernelKind::optimizer: blocks = k.bytes / 65536; break;
    case KernelKind::elementwise: blocks = number_of(k.elements) / 2048; break;
  }
  return std::clamp(blocks / laws.multiprocessors, 0.0, 1.0);
}

KernelEnergy energy_parts(const KernelLaws& laws, const Kernel& k, double us) {
  const EnergyLaw& e = laws.energy;
  const MemoryLaw& m = laws.memory;
  const double bytes = bytes_moved(k);
  const double from_memory = std::clamp((bytes - m.cache_until) / (m.memory_from - m.cache_until), k.cold_share, 1.0);
  const auto precision = static_cast<std::size_t>(k.precision);
  // More than the ceiling were not done: the algorithm needs fewer.
  const double flops = std::min(k.flops, laws.ceiling[precision] * us);
  return {.base_w = e.base_w,
          .busy_w = e.busy_w * busy_share(laws, k) + (is_scalar(k) ? e.scalar_w : 0),
          .operations = e.flop_pj[precision] * flops,
          .bytes = (e.byte_pj + e.memory_byte_pj * from_memory) * bytes,
          .clocked_us = std::max(0.0, us - from_memory * bytes / m.memory_rate)};
}

double millijoules(const KernelLaws& laws, const Kernel& given, double us, double clock) {
  Kernel k = given;
  derive_sizes(k);
  const KernelEnergy parts = energy_parts(laws, k, us);
  const double voltage = std::pow(clock, laws.energy.clock_exponent);
  return 1e-3 *
         ((parts.base_w + parts.busy_w * clock * voltage) * us + (parts.operations * voltage + parts.bytes) * 1e-6);
}

}  // namespace monet
