// Numbers as people read them.
#pragma once

#include <cstdint>
#include <string>

namespace monet {

// "1,814,073,344"
std::string grouped(std::int64_t number);
// "1.814 G", "555.4 M", "12"
std::string with_prefix(std::int64_t number);
// "44.59 MiB", "512 B"
std::string byte_size(std::int64_t bytes);
// "9,872,000", "12.5"
std::string cycles_text(double cycles);
// "12.34 ms"
std::string seconds_text(double seconds);

}  // namespace monet
