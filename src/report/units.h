// Numbers as people read them.
#pragma once

#include "base/prefixes.h"

#include <cstdint>
#include <string>

namespace monet {

// "1,814,073,344"
std::string grouped(std::int64_t number);
// "512 bytes", "46,755,840 bytes (44.59 MiB)"
std::string bytes_text(std::int64_t bytes);
// "9,872,000", "12.5"
std::string cycles_text(double cycles);
// "12.34 ms"
std::string seconds_text(double seconds);

}  // namespace monet
