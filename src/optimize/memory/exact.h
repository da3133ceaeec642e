// All plans there are.
#pragma once

#include "optimize/memory/prices.h"

#include <functional>

namespace monet {

struct ExactPoint {
  double cycles = 0, energy_pj = 0;
  std::int64_t peak_bytes = -1;  // -1: cannot be carried out, or was not reached
  std::int64_t kept_bytes = 0;
};

struct ExactOptions {
  std::function<bool()> stop;
  std::function<void(std::size_t done, std::size_t all)> progress;
};

// The i-th plan: a number whose digits are the choices, the first candidate's fastest.
Genome genome_at(std::span<const std::uint16_t> choices, std::size_t index);
// How many there are; infinite where they cannot be counted in a size_t.
double plans_in(std::span<const std::uint16_t> choices);

// By number. Neighbours follow each other on a thread, so that what they share is worked out once.
Expected<std::vector<ExactPoint>> price_all(MemoryPrices& prices, const ExactOptions& options);

}  // namespace monet
