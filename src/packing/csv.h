// Packing problems as files: a line a buffer with id, lower, upper, size and, if there, alignment, named in a heading.
#pragma once

#include "packing/packing.h"

#include <monet/expected.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace monet {

struct PackTable {
  std::vector<std::string> ids;
  std::vector<PackItem> items;
  std::vector<std::string> notes;  // columns that mean nothing here
};

// Columns in any order; spaces around fields, quotes, empty lines and Windows line ends are fine. What comes out meets
// the requirements of pack(). `path` is for messages.
Expected<PackTable> read_pack_csv(std::string_view text, const std::string& path, std::size_t most_rows = 10'000'000);

}  // namespace monet
