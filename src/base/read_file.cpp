#include "base/read_file.h"

#include "base/try.h"

#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace monet {

namespace {

constexpr std::uint64_t piece_bytes = std::uint64_t{1} << 16;

Error cannot_read(const OpenFile& file) {
  return file.error(fmt::format("cannot read the file: {}", std::strerror(errno)), "check the path");
}

Error more_than(const OpenFile& file, std::uint64_t most) {
  const char* const advice = file.is_pipe() ? "write it to a file, and name that" : "is it the right file?";
  return file.error(fmt::format("there is more than {} MiB in this {}", most >> 20, file.is_pipe() ? "pipe" : "file"),
                    advice);
}

// Bytes that came, fewer than `length` at the end only; -1: see errno.
std::int64_t read_into(const OpenFile& file, char* to, std::uint64_t length, std::optional<std::uint64_t> offset) {
  std::uint64_t done = 0;
  while (done < length) {
    const ssize_t came = offset
                             ? ::pread(file.descriptor(), to + done, length - done, static_cast<off_t>(*offset + done))
                             : ::read(file.descriptor(), to + done, length - done);
    if (came < 0 && errno == EINTR) continue;
    if (came < 0) return -1;
    if (came == 0) break;
    done += static_cast<std::uint64_t>(came);
  }
  return static_cast<std::int64_t>(done);
}

Expected<std::string> read_pipe(const OpenFile& file, std::uint64_t most) {
  std::string text;
  while (text.size() <= most) {
    const std::size_t before = text.size();
    text.resize(before + piece_bytes);
    const std::int64_t came = read_into(file, text.data() + before, piece_bytes, std::nullopt);
    if (came < 0) return cannot_read(file);
    text.resize(before + static_cast<std::size_t>(came));
    if (came < static_cast<std::int64_t>(piece_bytes)) break;
  }
  if (text.size() > most) return more_than(file, most);
  return text;
}

}  // namespace

Expected<std::string> read_all(const OpenFile& file, const ReadLimits& limits) {
  if (file.is_pipe()) return read_pipe(file, limits.pipe_bytes);
  if (file.size() > limits.file_bytes) return more_than(file, limits.file_bytes);
  std::string text(file.size(), '\0');
  const std::int64_t came = read_into(file, text.data(), file.size(), 0);
  if (came < 0) return cannot_read(file);
  MONET_RETURN_IF_ERROR(file.unchanged());
  if (static_cast<std::uint64_t>(came) != file.size()) return file.changed();
  return text;
}

Expected<std::string> read_file(const std::string& path, const ReadLimits& limits) {
  MONET_TRY(const OpenFile file, OpenFile::open(path));
  return read_all(file, limits);
}

Expected<std::optional<std::string>> read_range(const std::string& path, std::uint64_t offset, std::uint64_t length) {
  MONET_TRY(const OpenFile file, OpenFile::open(path));
  if (offset > file.size() || file.size() - offset < length) return std::optional<std::string>{};
  std::string bytes(length, '\0');
  const std::int64_t came = read_into(file, bytes.data(), length, offset);
  if (came < 0) return cannot_read(file);
  MONET_RETURN_IF_ERROR(file.unchanged());
  if (static_cast<std::uint64_t>(came) != length) return file.changed();
  return std::optional(std::move(bytes));
}

}  // namespace monet
