// Whatever the text, asking for a built-in network ends with a graph or an error.
#include "networks/builtin.h"

#include <cstddef>
#include <cstdint>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 256) return -1;
  (void)monet::build_builtin(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}
