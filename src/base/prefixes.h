// Large numbers with prefixes, as people read them.
#pragma once

#include <cstdint>
#include <string>

namespace monet {

// "1.814 G", "555.4 M", "12". A step of a data center does more operations than 64 bits can count.
std::string with_prefix(double number);
inline std::string with_prefix(std::int64_t number) { return with_prefix(static_cast<double>(number)); }
// "44.59 MiB", "512 B"
std::string byte_size(std::int64_t bytes);

}  // namespace monet
