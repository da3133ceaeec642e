// When something is so, and what it waited for until then.
#pragma once

#include "evaluate/schedule/schedule.h"

#include <cstdint>
#include <limits>

namespace monet::scheduling {

constexpr double never = std::numeric_limits<double>::infinity();
constexpr std::uint32_t none = 0xffffffffU;

struct Moment {
  double at = 0;
  Wait wait = Wait::nothing;
  std::uint32_t by = 0;
};

inline Moment later(const Moment& a, const Moment& b) { return b.at > a.at ? b : a; }

}  // namespace monet::scheduling
