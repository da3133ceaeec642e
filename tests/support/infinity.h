#pragma once

#include <limits>

namespace monet::test {

inline constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace monet::test
