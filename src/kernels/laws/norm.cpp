#include "kernels/laws/forms.h"

#include <algorithm>
#include <cmath>

namespace monet {

namespace {

constexpr std::array<Coefficient, 4> channel_coefficients = {{
    {"start", 4, 0.1, 30, Scale::none, "us"},
    {"alone", 1000, 50, 50000, Scale::none, "elements/us of one block whose data come from memory"},
    {"rate", 1500, 50, 50000, Scale::none, "elements/us of one block, of the channels that share a multiprocessor"},
    {"small", 0.5, 0.01, 10, Scale::none, "how much longer small images take: times 100 / pixels - 1"},
}};

// A block of threads for each channel.
double channel_us(const KernelLaws& laws, const Kernel& k, const Coefficients& c) {
  const double area = static_cast<double>(k.h) * static_cast<double>(k.w);
  const double elements = static_cast<double>(k.batch) * area;
  const double waves = std::ceil(static_cast<double>(k.c) / laws.multiprocessors);
  const MemoryLaw& memory = laws.memory;
  const double beyond =
      std::clamp((k.bytes - memory.cache_until) / (memory.memory_from - memory.cache_until), k.cold_share, 1.0);
  const double slower = 1 + c[3] * std::max(0.0, 100 / area - 1);
  return c[0] + elements * std::max(beyond / c[1], waves / c[2]) * slower;
}

}  // namespace

const LawForm channel_form = {"channels", channel_coefficients, channel_us};

}  // namespace monet
