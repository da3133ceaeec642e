// Whatever the text, reading it as a table of measured kernels ends with kernels or an error with a place; of every
// kernel that is read a law says a time above 0.
#include "kernels/calibrate/measurements.h"
#include "kernels/laws.h"

#include "support/folder.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>

namespace {

using namespace monet;

void fail(const std::string& message) {
  std::fprintf(stderr, "%s\n", message.c_str());
  std::abort();
}

KernelLaws plain_laws() {
  KernelLaws laws;
  laws.multiprocessors = 132;
  laws.ceiling = {6e7, 4e8, 8e8};
  laws.memory = {.cache_rate = 7e6, .memory_rate = 4e6, .cache_until = 3e7, .memory_from = 6e7, .cold_after = 4e7};
  return laws;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const test::Folder folder;
  static const KernelLaws laws = plain_laws();
  const std::string path = folder / "measured.csv";
  std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  const auto read = read_measurements({path});
  if (!read && read.error().kind == ErrorKind::defect) fail(read.error().text());
  if (!read && read.error().place.empty()) fail("an error without a place: " + read.error().text());
  if (!read) return 0;
  for (const MeasuredKernel& point : read->kernels) {
    const double us = microseconds(laws, point.kernel);
    if (!(us > 0) || !(point.us > 0)) fail("a kernel that takes no time");
  }
  return 0;
}
