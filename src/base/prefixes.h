// Large numbers with prefixes, as people read them.
#pragma once

#include <cstdint>
#include <string>

namespace monet {

// "1.814 G", "555.4 M", "12"
std::string with_prefix(std::int64_t number);
// "44.59 MiB", "512 B"
std::string byte_size(std::int64_t bytes);

}  // namespace monet
