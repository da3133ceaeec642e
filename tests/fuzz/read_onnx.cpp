// Whatever the bytes, reading them ends with a network or an error, and what was read can be counted.
#include "graph/nests.h"
#include "onnx/reader.h"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

// A graph that breaks our own rules is our fault, whatever the file.
void fail(const monet::Error& error) {
  std::fprintf(stderr, "%s\n", error.text().c_str());
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const auto batch : {std::optional<std::int64_t>{}, std::optional<std::int64_t>{3}}) {
    const auto network = monet::onnx::read_bytes(bytes, "no-such-folder", {.batch = batch, .dimensions = {}});
    if (!network && network.error().kind == monet::ErrorKind::defect) fail(network.error());
    if (!network) continue;
    for (const monet::Node& node : network->graph.nodes()) {
      (void)monet::operation_counts(monet::nests_of(monet::site_of(network->graph, node)));
    }
  }
  return 0;
}
