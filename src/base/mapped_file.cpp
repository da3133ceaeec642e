#include "base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace monet {

namespace {

Error cannot_open(const std::string& path, const std::string& reason) {
  return {.message = "cannot open the file: " + reason, .place = path, .advice = "check the path"};
}

}  // namespace

Expected<MappedFile> MappedFile::open(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return cannot_open(path, std::strerror(errno));
  struct stat status{};
  std::string problem;
  const char* data = nullptr;
  if (::fstat(descriptor, &status) != 0) {
    problem = std::strerror(errno);
  } else if (!S_ISREG(status.st_mode)) {
    problem = S_ISDIR(status.st_mode) ? "it is a folder" : "it is not a regular file";
  } else if (status.st_size > 0) {
    void* mapped = ::mmap(nullptr, static_cast<std::size_t>(status.st_size), PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (mapped == MAP_FAILED) {
      problem = std::strerror(errno);
    } else {
      data = static_cast<const char*>(mapped);
    }
  }
  ::close(descriptor);
  if (!problem.empty()) return cannot_open(path, problem);
  return MappedFile(data, data ? static_cast<std::size_t>(status.st_size) : 0);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<char*>(data_), size_);
}

}  // namespace monet
