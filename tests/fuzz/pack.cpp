// Whatever the text, reading it as buffers to pack ends with a packing that is one, or an error.
#include "packing/check.h"
#include "packing/csv.h"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

void require(const std::string& fault) {
  if (fault.empty()) return;
  std::fprintf(stderr, "%s\n", fault.c_str());
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto table = monet::read_pack_csv({reinterpret_cast<const char*>(data), size}, "fuzz.csv");
  if (!table) {
    require(table.error().kind == monet::ErrorKind::defect ? table.error().text() : "");
    return 0;
  }
  const std::int64_t load = monet::max_load(table->items);
  for (const auto capacity : {std::optional<std::int64_t>{}, std::optional<std::int64_t>{load}}) {
    const auto result = monet::pack(table->items, {.capacity = capacity, .effort = 0.001});
    require(monet::check_packing(table->items, result.offsets, result.placed ? capacity : std::nullopt));
    require(result.peak < load ? "the peak is below the load" : "");
  }
  return 0;
}
