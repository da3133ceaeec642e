// Whatever the text, importing it as a core, a system or a mapping ends with a result or an error, and what was
// imported can be written.
#include "compat/import/import.h"
#include "compat/import/stream_mapping.h"
#include "hardware/writer.h"
#include "mapping/mapping_file.h"

#include <cstddef>
#include <cstdint>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 1 << 16) return -1;
  const std::string text(reinterpret_cast<const char*>(data), size);
  // Up to a line of '%', the file itself; from there on, every other file it names.
  const std::size_t cut = text.find("\n%");
  const std::string rest = cut == std::string::npos ? text : text.substr(text.find('\n', cut + 1) + 1);
  const auto read = [&](const std::string&) -> monet::Expected<std::string> { return rest; };
  for (const char* mapping : {"", "m.yaml"}) {
    const auto hardware = monet::import_hardware_text(text.substr(0, cut), "f.yaml", read, {.mapping = mapping});
    if (hardware) (void)monet::to_yaml(*hardware);
  }
  (void)monet::read_mapping_text(text, "m.yaml");
  if (const auto document = monet::parse_foreign_yaml(text, "m.yaml")) (void)monet::read_stream_mapping(*document);
  return 0;
}
