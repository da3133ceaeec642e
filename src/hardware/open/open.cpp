#include "hardware/open/open.h"

#include "base/suggest.h"
#include "hardware/import/import.h"
#include "hardware/presets.h"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <string_view>

namespace monet {

// Our files state the version of their format at the top level; others have keys of their own there.
bool is_foreign_hardware(const std::string& path) {
  std::ifstream file(path);
  bool foreign = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("monet:")) return false;
    constexpr std::array<std::string_view, 4> keys = {"operational_array:", "offchip_core",
                                                      "core_connectivity:", "core_memory_sharing:"};
    for (std::string_view key : keys) foreign |= line.starts_with(key);
  }
  return foreign;
}

Error no_such_hardware(const std::string& name) {
  const std::string near = nearest(name, preset_names());
  return Error{
      .message = "there is no such file or preset",
      .place = name,
      .advice = near.empty() ? "`monet hardware list` shows the presets" : fmt::format("did you mean '{}'?", near)};
}

Expected<Hardware> open_hardware(const std::string& name, const HardwareOptions& options) {
  if (const std::string* text = preset_text(name)) return read_hardware_text(*text, "preset " + name, options);
  std::error_code ignored;
  if (std::filesystem::exists(name, ignored)) {
    if (!is_foreign_hardware(name)) return read_hardware(name, options);
    if (options.parameters.empty()) return import_hardware(name);
    return Error{.message = "a file of another tool has no parameters",
                 .place = name,
                 .advice = "`monet hardware import` makes a file of ours, which may have some"};
  }
  return no_such_hardware(name);
}

}  // namespace monet
