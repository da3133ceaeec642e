#include "evaluate/open/hardware.h"

#include "base/read_file.h"
#include "base/suggest.h"
#include "base/try.h"
#include "compat/import/import.h"
#include "config/yaml_node.h"
#include "hardware/presets.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

namespace monet {

// Our files state the version of their format at the top level; others have keys of their own there.
bool is_foreign_hardware(std::string_view text) {
  bool foreign = false;
  for (std::size_t begin = 0, end = 0; begin < text.size(); begin = end + 1) {
    end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
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
    // Once: a pipe gives its text to the first that reads it.
    MONET_TRY(const std::string text, read_file(name));
    if (!is_foreign_hardware(text)) return read_hardware_text(text, name, options);
    if (options.parameters.empty()) return import_hardware_text(text, name, read_foreign_text);
    return Error{.message = "a file of another tool has no parameters",
                 .place = name,
                 .advice = "`monet hardware import` makes a file of ours, which may have some"};
  }
  return no_such_hardware(name);
}

}  // namespace monet
