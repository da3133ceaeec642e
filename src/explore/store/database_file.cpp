// The file that a connection has open. SQLite's own handle reads it: closing another one of this process would free the
// locks of the connection (https://sqlite.org/howtocorrupt.html#_posix_advisory_locks_canceled_by_a_separate_thread).
#include "explore/store/database.h"

#include <sqlite3.h>

namespace monet::explore {

namespace {

sqlite3_file* file_of(sqlite3* connection) {
  sqlite3_file* file = nullptr;
  sqlite3_file_control(connection, "main", SQLITE_FCNTL_FILE_POINTER, static_cast<void*>(&file));
  return file != nullptr && file->pMethods != nullptr ? file : nullptr;
}

}  // namespace

std::string Database::head(std::size_t bytes) const {
  sqlite3_file* const file = file_of(connection_);
  std::string head(bytes, '\0');
  if (file == nullptr || file->pMethods->xRead(file, head.data(), static_cast<int>(bytes), 0) != SQLITE_OK) return "";
  return head;
}

std::int64_t Database::file_bytes() const {
  sqlite3_file* const file = file_of(connection_);
  sqlite3_int64 bytes = 0;
  if (file == nullptr || file->pMethods->xFileSize(file, &bytes) != SQLITE_OK) return 0;
  return bytes;
}

Status Database::copy_to(Database& other) {
  sqlite3_backup* const backup = sqlite3_backup_init(other.connection_, "main", connection_, "main");
  if (backup == nullptr) return other.error(sqlite3_errcode(other.connection_));
  sqlite3_backup_step(backup, -1);
  const int code = sqlite3_backup_finish(backup);
  if (code != SQLITE_OK) return other.error(code);
  return Done{};
}

void Database::let_go() { sqlite3_db_config(connection_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr); }

}  // namespace monet::explore
