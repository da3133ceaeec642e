// Whatever the text, reading it as a file of costs ends with costs or an error, and asking them for a tile with a cost
// that is a finite number and not negative, with none, or with an error.
#include "evaluate/cost/custom_file.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

using namespace monet;

void fail(const std::string& message) {
  std::fprintf(stderr, "%s\n", message.c_str());
  std::abort();
}

CustomTile tile(const std::string& core) {
  return {.op = "FancyNorm",
          .core = core,
          .precision = "fp32",
          .loops = {{"B", 4}, {"K", 16}},
          .input_shapes = {{4, 16}, {16}},
          .output_shapes = {{4, 16}, {}},
          .attributes = {{"groups", "2"}}};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto costs = parse_custom_costs(std::string(reinterpret_cast<const char*>(data), size), "fuzz.yaml");
  if (!costs) {
    if (costs.error().kind == ErrorKind::defect) fail(costs.error().text());
    return 0;
  }
  for (const char* core : {"simd", "array"}) {
    const auto cost = (*costs)(tile(core));
    if (!cost || !*cost) continue;
    for (const double number : {(*cost)->cycles, (*cost)->energy_pj}) {
      if (!std::isfinite(number) || number < 0) fail("a cost that is none");
    }
  }
  return 0;
}
