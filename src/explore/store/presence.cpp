#include "explore/store/presence.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace monet::explore {

namespace {

// What never changes: the name of the format, and at its place the program that it belongs to.
constexpr std::size_t head_bytes = 100, program_at = 68, program_bytes = 4;
constexpr std::string_view first_bytes{"SQLite format 3", 16};

bool is_store(const std::string& head) {
  return head.starts_with(first_bytes) && head.substr(program_at, program_bytes) == "MONE";
}

}  // namespace

const char* what_happened(Loss loss) {
  switch (loss) {
    case Loss::none: break;
    case Loss::removed: return "was removed";
    case Loss::replaced: return "was replaced by another file";
    case Loss::cut: return "was cut";
    case Loss::overwritten: return "was overwritten";
  }
  return "is as it was";
}

Presence::FileId Presence::file_at(const std::string& path) {
  struct stat found{};
  if (stat(path.c_str(), &found) != 0) return {};
  return {found.st_dev, found.st_ino};
}

Presence Presence::of(const Database& database) {
  Presence presence;
  presence.path_ = database.path();
  presence.file_ = file_at(presence.path_);
  presence.bytes_ = database.file_bytes();
  return presence;
}

Loss Presence::look(const Database& database) {
  errno = 0;
  const FileId now = file_at(path_);
  if (now == FileId{}) return errno == ENOENT || errno == ENOTDIR ? Loss::removed : Loss::none;
  if (now != file_) return Loss::replaced;
  // Nothing is ever deleted that would make it shorter.
  const std::int64_t bytes = database.file_bytes();
  if (bytes < bytes_) return Loss::cut;
  if (!is_store(database.head(head_bytes))) return Loss::overwritten;
  bytes_ = bytes;
  journal_ = file_at(path_ + "-wal");
  return Loss::none;
}

void Presence::remove_journal() const {
  const std::string journal = path_ + "-wal";
  if (journal_ == FileId{} || file_at(journal) != journal_) return;
  unlink(journal.c_str());
  unlink((path_ + "-shm").c_str());
}

}  // namespace monet::explore
