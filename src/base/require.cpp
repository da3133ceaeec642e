#include "base/require.h"

#include <fmt/core.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace monet {

void fail_invariant(std::string_view condition, std::string_view file, int line) {
  const std::string text =
      fmt::format("monet: internal error: {} does not hold at {}:{}; please report this\n", condition, file, line);
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::abort();
}

}  // namespace monet
