// Files read into memory: what is there cannot change any more.
#pragma once

#include "base/open_file.h"

#include <monet/expected.h>

#include <cstdint>
#include <optional>
#include <string>

namespace monet {

struct ReadLimits {
  std::uint64_t file_bytes = std::uint64_t{2} << 30;
  std::uint64_t pipe_bytes = std::uint64_t{256} << 20;  // a pipe does not say how much will come
};

// All of a regular file or a pipe. Fails for all else, for more than the limit, and for a file that others changed in
// the meantime.
Expected<std::string> read_file(const std::string& path, const ReadLimits& limits = {});
// The same of a file that is open; nothing was read from it.
Expected<std::string> read_all(const OpenFile& file, const ReadLimits& limits = {});

// The bytes from `offset` on; nothing when the regular file ends before `offset` + `length`.
Expected<std::optional<std::string>> read_range(const std::string& path, std::uint64_t offset, std::uint64_t length);

}  // namespace monet
