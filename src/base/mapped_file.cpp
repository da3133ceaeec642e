#include "base/mapped_file.h"

#include "base/mapping_guard.h"
#include "base/open_file.h"
#include "base/read_file.h"
#include "base/try.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

namespace monet {

struct MappedFile::Contents {
  explicit Contents(OpenFile opened) : file(std::move(opened)) {}
  Contents(const Contents&) = delete;
  Contents& operator=(const Contents&) = delete;
  ~Contents() { unmap(); }

  // False: the system, or our own table of guards, has no room for another mapping.
  bool map() {
    void* const at = ::mmap(nullptr, file.size(), PROT_READ, MAP_PRIVATE, file.descriptor(), 0);
    if (at == MAP_FAILED) return false;
    mapped = static_cast<const char*>(at);
    guard = guard_mapping(mapped, file.size());
    if (!guard) unmap();
    return guard.has_value();
  }

  void unmap() {
    if (guard) release_guard(*guard);
    if (mapped != nullptr) ::munmap(const_cast<char*>(mapped), file.size());
    guard.reset();
    mapped = nullptr;
  }

  OpenFile file;
  std::string copy;              // where it is not mapped
  const char* mapped = nullptr;  // file.size() bytes
  std::optional<std::size_t> guard;
};

Expected<MappedFile> MappedFile::open(const std::string& path, std::uint64_t most_copied) {
  MONET_TRY(OpenFile file, OpenFile::open(path));
  if (file.is_pipe()) return file.error("cannot open the file: it is a pipe, not a regular file", "write it to a file");
  auto contents = std::make_unique<Contents>(std::move(file));
  if (contents->file.size() <= most_copied || !contents->map()) {
    MONET_TRY(contents->copy, read_all(contents->file, {.file_bytes = std::numeric_limits<std::uint64_t>::max()}));
  }
  return MappedFile(std::move(contents));
}

MappedFile::MappedFile(std::unique_ptr<Contents> contents) : contents_(std::move(contents)) {}
MappedFile::MappedFile(MappedFile&& other) noexcept = default;
MappedFile& MappedFile::operator=(MappedFile&& other) noexcept = default;
MappedFile::~MappedFile() = default;

std::string_view MappedFile::bytes() const {
  if (contents_->mapped == nullptr) return contents_->copy;
  return {contents_->mapped, contents_->file.size()};
}

Status MappedFile::unchanged() const {
  if (contents_->mapped == nullptr) return Done{};
  if (was_cut(*contents_->guard)) return contents_->file.changed();
  return contents_->file.unchanged();
}

}  // namespace monet
