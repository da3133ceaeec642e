// Whether the file that a connection has open is still the one of its name, and a store.
#pragma once

#include "explore/store/database.h"

#include <sys/types.h>

namespace monet::explore {

enum class Loss {
  none,
  removed,
  replaced,     // another file has its name
  cut,          // the same file, shorter than it was
  overwritten,  // the same file with another content
};
// "was removed".
const char* what_happened(Loss loss);
// What was open is still whole, and can be copied.
inline bool is_whole(Loss loss) { return loss == Loss::removed || loss == Loss::replaced; }

// A glance at it, for every time that something is written.
class Presence {
 public:
  // Of a file that has just been opened.
  static Presence of(const Database& database);
  // What can be seen without reading it; content that is wrong farther inside is not.
  Loss look(const Database& database);
  // The journal beside it, NAME-wal, where it is still ours: whatever has the name now must not be given its content.
  void remove_journal() const;

 private:
  struct FileId {
    dev_t device = 0;
    ino_t number = 0;
    bool operator==(const FileId&) const = default;
  };
  static FileId file_at(const std::string& path);

  std::string path_;
  FileId file_, journal_;
  std::int64_t bytes_ = 0;
};

}  // namespace monet::explore
