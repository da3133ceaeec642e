// Opens what a user names: a preset, a file of ours, or one of ZigZag's or Stream's.
#pragma once

#include "hardware/reader.h"

#include <string>
#include <string_view>

namespace monet {

// A preset's name, or a path. A name that is neither is an error that suggests the nearest preset. Another tool's file
// is imported (compat/import/import.h); parameters are then an error.
Expected<Hardware> open_hardware(const std::string& name, const HardwareOptions& options = {});

// Whether a file of this text is one of another tool.
bool is_foreign_hardware(std::string_view text);
// What is said of a name that is neither a preset nor a file.
Error no_such_hardware(const std::string& name);

}  // namespace monet
