#include "base/open_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace monet {

namespace {

Error cannot_open(const std::string& path, const std::string& reason) {
  return {.message = "cannot open the file: " + reason, .place = path, .advice = "check the path"};
}

// Empty for what can be read to its end.
std::string reason_not_to_read(const struct stat& status) {
  if (S_ISREG(status.st_mode) || S_ISFIFO(status.st_mode)) return "";
  if (S_ISDIR(status.st_mode)) return "it is a folder";
  if (S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode)) return "it is a device, not a regular file";
  return "it is not a regular file";
}

}  // namespace

Expected<OpenFile> OpenFile::open(const std::string& path) {
  OpenFile file(path);
  // Asked before it is opened: to open a device may do something, or wait for ever.
  if (::stat(path.c_str(), &file.status_) != 0) return cannot_open(path, std::strerror(errno));
  if (const std::string reason = reason_not_to_read(file.status_); !reason.empty()) return cannot_open(path, reason);
  file.descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (file.descriptor_ < 0 || ::fstat(file.descriptor_, &file.status_) != 0)
    return cannot_open(path, std::strerror(errno));
  // Another may have come in its place.
  if (const std::string reason = reason_not_to_read(file.status_); !reason.empty()) return cannot_open(path, reason);
  return file;
}

OpenFile::OpenFile(OpenFile&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)), status_(other.status_) {}

OpenFile& OpenFile::operator=(OpenFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(status_, other.status_);
  return *this;
}

OpenFile::~OpenFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

bool OpenFile::read_at(std::uint64_t at, std::span<unsigned char> bytes) const {
  while (!bytes.empty()) {
    const ssize_t count = ::pread(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(at));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    at += static_cast<std::uint64_t>(count);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return true;
}

Status OpenFile::unchanged() const {
  struct stat now{};
  if (::fstat(descriptor_, &now) != 0) return cannot_open(path_, std::strerror(errno));
  const bool same = now.st_size == status_.st_size && now.st_mtim.tv_sec == status_.st_mtim.tv_sec &&
                    now.st_mtim.tv_nsec == status_.st_mtim.tv_nsec;
  if (!same && !is_pipe()) return changed();
  return Done{};
}

Error OpenFile::changed() const {
  return error("the file changed while it was read", "try again when what writes it is done");
}

}  // namespace monet
