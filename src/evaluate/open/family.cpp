#include "evaluate/open/family.h"

#include "base/read_file.h"
#include "base/try.h"
#include "evaluate/open/hardware.h"
#include "hardware/include.h"
#include "hardware/presets.h"

#include <filesystem>

namespace monet {

Expected<HardwareFamily> HardwareFamily::open(const std::string& name) {
  if (const std::string* text = preset_text(name)) return of_text(*text, "preset " + name);
  std::error_code ignored;
  if (!std::filesystem::exists(name, ignored)) return no_such_hardware(name);
  MONET_TRY(const std::string text, read_file(name));
  if (is_foreign_hardware(text)) return HardwareFamily(name, nullptr);
  return of_text(text, name);
}

Expected<HardwareFamily> HardwareFamily::of_text(const std::string& text, const std::string& path) {
  MONET_TRY(YamlPtr root, parse_hardware(text, path));
  return HardwareFamily(path, std::move(root));
}

Expected<Hardware> HardwareFamily::with(const HardwareOptions& options) const {
  return root_ ? read_hardware_tree(*root_, path_, options) : open_hardware(path_, options);
}

}  // namespace monet
