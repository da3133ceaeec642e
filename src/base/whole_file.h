// Files that are there as a whole or not at all: what was there before stays until the new one is complete, whatever
// happens meanwhile.
#pragma once

#include <monet/expected.h>

#include <functional>
#include <iosfwd>
#include <memory>
#include <string>

namespace monet {

// Written beside its place under another name; it takes its name with publish(). Where its place is no ordinary file (a
// pipe, a device) it is written there at once.
class WholeFile {
 public:
  static Expected<WholeFile> open(const std::string& path);
  WholeFile(WholeFile&& other) noexcept;
  WholeFile& operator=(WholeFile&&) = delete;
  // Takes away what has not got its name.
  ~WholeFile();

  std::ostream& stream();
  // All of it is on the disk, under the other name.
  Status finish();
  // Requires: finished.
  Status publish();

 private:
  class Sink;
  WholeFile();
  Error cannot_be_written(int reason) const;

  std::string path_;   // as it was given
  std::string final_;  // behind links
  std::string other_;  // its name until then; empty: it is written in place, or has its name
  std::unique_ptr<Sink> sink_;
};

Status write_whole_file(const std::string& path, const std::function<void(std::ostream&)>& write);

}  // namespace monet
