// Files that are there as a whole or not at all: what was there before stays until the new one is complete, whatever
// happens meanwhile.
#pragma once

#include <monet/expected.h>

#include <functional>
#include <iosfwd>
#include <memory>
#include <string>

namespace monet {

// Written beside its place without a name, or under another one where the disk has no files without; it takes its name
// with publish(). Where its place is no ordinary file (a pipe, a device) it is written there at once.
class WholeFile {
 public:
  static Expected<WholeFile> open(const std::string& path);
  // For a folder that is not there yet: it is written beside the folder.
  static Expected<WholeFile> open_beside(const std::string& folder, const std::string& name);
  WholeFile(WholeFile&& other) noexcept;
  WholeFile& operator=(WholeFile&&) = delete;
  // Takes away what has not got its name.
  ~WholeFile();

  std::ostream& stream();
  // All of it is on the disk, not under its name yet.
  Status finish();
  // Requires: finished.
  Status publish();
  // In another folder, on the same disk.
  Status publish_in(const std::string& folder);

 private:
  class Sink;
  WholeFile();
  Status open_in(const std::string& folder);
  Error cannot_be_written(int reason) const;

  std::string path_;   // as it was given
  std::string final_;  // behind links
  std::string other_;  // its name until then; empty: it is written in place, has no name, or its own
  bool nameless_ = false;
  std::unique_ptr<Sink> sink_;
};

// Is in a folder while its files are replaced one after the other: one that was left there says that they are of two
// runs.
constexpr const char* unfinished_name = ".unfinished";

Status write_whole_file(const std::string& path, const std::function<void(std::ostream&)>& write);

}  // namespace monet
