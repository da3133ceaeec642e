// A file that is open for reading, and what it was when it was opened.
#pragma once

#include <monet/expected.h>

#include <sys/stat.h>

#include <cstdint>
#include <span>
#include <string>
#include <utility>

namespace monet {

class OpenFile {
 public:
  // Fails for what is absent, not readable, a folder or a device. Waits for the writer of a named pipe.
  static Expected<OpenFile> open(const std::string& path);

  OpenFile(OpenFile&& other) noexcept;
  OpenFile& operator=(OpenFile&& other) noexcept;
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile();

  int descriptor() const { return descriptor_; }
  bool is_pipe() const { return S_ISFIFO(status_.st_mode); }
  // Bytes when it was opened; 0 for a pipe.
  std::uint64_t size() const { return is_pipe() ? 0 : static_cast<std::uint64_t>(status_.st_size); }

  // Whether all of `bytes` were there, from byte `at` on, and could be read.
  bool read_at(std::uint64_t at, std::span<unsigned char> bytes) const;

  // Fails when its size, or the time of its last change, is no longer what it was.
  Status unchanged() const;

  Error error(const std::string& message, const std::string& advice) const {
    return {.message = message, .place = path_, .advice = advice};
  }
  Error changed() const;

 private:
  explicit OpenFile(std::string path) : path_(std::move(path)) {}

  std::string path_;
  int descriptor_ = -1;
  struct stat status_{};
};

}  // namespace monet
