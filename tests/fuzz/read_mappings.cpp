// Whatever a file of kept mappings holds, it is read; a line that is a mapping reads back the same; and a mapping costs
// no less than its problem must on the target, or is refused.
#include "mapping/cache.h"
#include "mapping/random_cases.h"
#include "mapping/search.h"

#include <unistd.h>

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace {

using namespace monet;

void fail(const std::string& message) {
  std::fprintf(stderr, "%s\n", message.c_str());
  std::abort();
}

// Some of the ways in which a mapping may fit or not: many loops, few, windows that overlap.
const std::vector<Problem>& problems() {
  static const std::vector<Problem> all = {test::matmul(1, 64, 64, 64), test::matmul(4, 6, 10, 15),
                                           test::convolution_with(8, 4, 14, 3, {}), test::reduction(12, 30)};
  return all;
}

void price(const Mapping& mapping, const std::string& line) {
  static const Target target = test::tpu_like();
  for (const Problem& problem : problems()) {
    const auto cost = cost_of(problem, target, mapping);
    if (!cost && cost.error().kind == ErrorKind::defect) fail(line + ": " + cost.error().text());
    if (!cost) continue;
    const bool finite = std::isfinite(cost->cost.cycles) && std::isfinite(cost->cost.energy_pj);
    if (!finite || cost->cost.energy_pj < 0) fail(line + ": a cost that is no number");
    if (cost->cost.cycles < cost->cost.bound_cycles * (1 - 1e-9)) fail(line + ": below its bound");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string path =
      (std::filesystem::temp_directory_path() / fmt::format("fuzz_mappings_{}", getpid())).string();
  const std::string text(reinterpret_cast<const char*>(data), size);
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
  const auto store = MappingStore::open(path);
  if (!store) fail(store.error().text());
  std::istringstream lines(text);
  std::size_t ignored = 0;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t blank = line.find(' ');
    const auto mapping =
        blank == 32 && !lines.eof() ? mapping_from(std::string_view(line).substr(blank + 1)) : std::nullopt;
    if (!mapping) {
      ++ignored;
      continue;
    }
    if (store->find(line.substr(0, blank)) == nullptr) fail("a mapping that is there is not found: " + line);
    const auto again = mapping_from(to_line(*mapping));
    if (!again || to_line(*again) != to_line(*mapping)) fail("reads back as another mapping: " + line);
    price(*mapping, line);
  }
  if (store->ignored_lines() != ignored) fail("other lines are ignored than are none");
  return 0;
}
