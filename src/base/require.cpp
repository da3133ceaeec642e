#include "base/require.h"

#include <fmt/core.h>

#include <cstdio>
#include <cstdlib>

namespace monet {

void fail_invariant(std::string_view condition, std::string_view file, int line) {
  fmt::print(stderr, "monet: internal error: {} does not hold at {}:{}; please report this\n", condition, file, line);
  std::abort();
}

}  // namespace monet
