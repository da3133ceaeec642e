#include "kernels/laws/forms.h"

#include <algorithm>
#include <cmath>

namespace monet {

namespace {

constexpr std::array<Coefficient, 5> channel_coefficients = {{
    {"start", 4, 0.1, 30, Scale::none, "us"},
    {"alone", 1000, 50, 50000, Scale::none, "elements/us of one block whose data come from memory"},
    {"near", 2000, 50, 50000, Scale::none, "elements/us of one block whose data come from the last cache"},
    {"rate", 1500, 100, 50000, Scale::multiprocessors, "elements/ns of all blocks together"},
    {"small", 0.5, 0.01, 10, Scale::none, "how much longer small images take: times 100 / pixels - 1"},
}};

// A block whose registers hold a channel reads it once; two of these share a multiprocessor. The library has such
// kernels for numbers of 32 bits: up to 64 elements of each of 512 threads, where there are one tensor to hold, and
// half of that where there are two.
bool reads_once(const Kernel& k, double elements) {
  if (k.precision == KernelPrecision::bf16) return false;
  return elements <= (k.part == KernelPart::forward ? 32768 : 16384);
}

// All that is moved where every element is read twice: once for the sums, once for the result.
double passes_of_two_reads(const Kernel& k) { return k.part == KernelPart::forward ? 3.0 : 5.0; }

// A block of threads for each channel: its own time, or that of memory and cores which all of them share.
double channel_us(const KernelLaws& laws, const Kernel& k, const Coefficients& c) {
  const double area = static_cast<double>(k.h) * static_cast<double>(k.w);
  const double elements = static_cast<double>(k.batch) * area, channels = static_cast<double>(k.c);
  const MemoryLaw& memory = laws.memory;
  // The gradient reads two tensors together, and waits for the one that is not in the cache.
  const double waits = std::min(1.0, k.part == KernelPart::forward ? k.cold_share : 2 * k.cold_share);
  const double beyond =
      std::clamp((k.bytes - memory.cache_until) / (memory.memory_from - memory.cache_until), waits, 1.0);
  const double slower = 1 + c[4] * std::max(0.0, 100 / area - 1);
  const double block = elements * (beyond / c[1] + (1 - beyond) / c[2]);
  if (reads_once(k, elements)) {
    return c[0] + std::ceil(channels / (2 * laws.multiprocessors)) * block * slower;
  }
  const double all = elements * channels;
  const double moved = memory_us(memory, passes_of_two_reads(k) * all * bytes_of(k.precision));
  return c[0] + std::hypot(block, all / c[3], moved) * slower;
}

}  // namespace

const LawForm channel_form = {"channels", channel_coefficients, channel_us};

}  // namespace monet
