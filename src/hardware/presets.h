// Machines that are part of the program (presets/*.yaml).
#pragma once

#include <string>
#include <vector>

namespace monet {

// Text of a preset, by name; null: none.
const std::string* preset_text(const std::string& name);
const std::vector<std::string>& preset_names();

}  // namespace monet
