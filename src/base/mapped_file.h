// A file's bytes without reading them: pages come in when they are looked at.
#pragma once

#include <monet/expected.h>

#include <string>
#include <string_view>

namespace monet {

class MappedFile {
 public:
  // Fails for a file that is absent, not readable or a folder.
  static Expected<MappedFile> open(const std::string& path);

  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  // Valid as long as this object.
  std::string_view bytes() const { return {data_, size_}; }

 private:
  MappedFile(const char* data, std::size_t size) : data_(data), size_(size) {}

  const char* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace monet
