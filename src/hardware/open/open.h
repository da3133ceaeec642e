// Opens what a user names: a preset, a file of ours, or one of ZigZag's or Stream's.
#pragma once

#include "hardware/reader.h"

namespace monet {

// A preset's name, or a path. A name that is neither is an error that suggests the nearest preset. Another tool's file
// is imported (hardware/import/import.h); parameters are then an error.
Expected<Hardware> open_hardware(const std::string& name, const HardwareOptions& options = {});

}  // namespace monet
