// Whatever the text, reading it as a hardware file ends with a machine that makes sense, or an error.
#include "hardware/check.h"
#include "hardware/reader.h"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

void require(const monet::Status& status) {
  if (status) return;
  std::fprintf(stderr, "%s\n", status.error().text().c_str());
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto hardware = monet::read_hardware_text(text, "no-such-folder/fuzz.yaml");
  if (!hardware) {
    if (hardware.error().kind == monet::ErrorKind::defect) require(monet::Status(hardware.error()));
    return 0;
  }
  require(monet::check(*hardware));
  for (const monet::Core& core : hardware->cores) {
    for (const monet::Level& level : core.levels) (void)monet::instances(core, level);
  }
  (void)monet::peak_operations(*hardware, monet::Count::mac, "int8");
  // The same family with another value of its first parameter.
  if (hardware->parameters.empty()) return 0;
  monet::HardwareOptions options;
  options.parameters.emplace_back(hardware->parameters.front().first, "= 2 * 3");
  (void)monet::read_hardware_text(text, "no-such-folder/fuzz.yaml", options);
  return 0;
}
