#include "kernels/laws/forms.h"

namespace monet {

double memory_us(const MemoryLaw& law, double bytes) {
  if (bytes <= law.cache_until) return bytes / law.cache_rate;
  if (bytes >= law.memory_from) return bytes / law.memory_rate;
  const double share = (bytes - law.cache_until) / (law.memory_from - law.cache_until);
  return bytes / (law.cache_rate + share * (law.memory_rate - law.cache_rate));
}

double cold_memory_us(const MemoryLaw& law, double bytes) { return bytes / law.memory_rate; }

}  // namespace monet
