// Sets that wait for each other.
#pragma once

#include "optimize/fusion/problem.h"

#include <cstdint>
#include <span>
#include <vector>

namespace monet::fusion {

// One set of a ring: something comes in at `in` and goes on from `out`.
struct RingStep {
  std::uint32_t set = 0;
  Index in = 0, out = 0;
};
using Ring = std::vector<RingStep>;

// Short rings among the sets, at least one wherever there is any; none: they can run one after the other. `set_of` by
// operator, numbers below `sets`.
std::vector<Ring> rings_among(const Problem& problem, std::span<const std::uint32_t> set_of, std::size_t sets);

}  // namespace monet::fusion
