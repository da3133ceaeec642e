// The bytes of a regular file that may be larger than what is looked at: those of a small one are copied, those of a
// large one come in when they are looked at.
#pragma once

#include <monet/expected.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace monet {

class MappedFile {
 public:
  static constexpr std::uint64_t usual_most_copied = std::uint64_t{64} << 20;

  // Fails for a file that is absent, not readable, a folder, a device or a pipe. Files of more than `most_copied` bytes
  // are mapped.
  static Expected<MappedFile> open(const std::string& path, std::uint64_t most_copied = usual_most_copied);

  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  // Valid as long as this object, and what it is moved to.
  std::string_view bytes() const;

  // Fails when others changed the file since: what bytes() gave may be of both, or zeros. To be asked before anything
  // that was found in them is told. Always well for a copy.
  Status unchanged() const;

 private:
  struct Contents;
  explicit MappedFile(std::unique_ptr<Contents> contents);

  std::unique_ptr<Contents> contents_;
};

}  // namespace monet
