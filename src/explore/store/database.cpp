#include "explore/store/database.h"

#include "base/try.h"

#include <sqlite3.h>
#include <unistd.h>

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <limits>
#include <utility>

namespace monet::explore {

namespace {

constexpr int wait_ms = 30000;                    // for another process that writes
constexpr int longest_value = 256 * 1024 * 1024;  // bytes; a damaged file may name any

// As a URI takes it.
std::string escaped(const std::string& path) {
  std::string text;
  for (const char c : path) text += c == '?' || c == '#' || c == '%' ? fmt::format("%{:02X}", c) : std::string(1, c);
  return text;
}

struct Opening {
  std::string name;
  int flags = 0;
};

// A reader leaves a file as it is. What a process that was killed left in NAME-wal belongs to it and is read without
// being merged; without such a file, a writable connection is the one that leaves no files of its own behind. Where
// nothing may be written beside it, SQLite must be told that nobody writes.
Opening opening_for(const std::string& path, Database::Mode mode) {
  if (path == ":memory:") return {path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE};
  if (mode == Database::Mode::make) return {path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE};
  if (mode == Database::Mode::write) return {path, SQLITE_OPEN_READWRITE};
  std::error_code ignored;
  const bool journal = std::filesystem::file_size(path + "-wal", ignored) > 0 && !ignored;
  if (journal) return {path, SQLITE_OPEN_READONLY};
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  const bool writable = access(path.c_str(), W_OK) == 0 && access(folder.empty() ? "." : folder.c_str(), W_OK) == 0;
  if (writable) return {path, SQLITE_OPEN_READWRITE};
  return {"file:" + escaped(path) + "?immutable=1", SQLITE_OPEN_READONLY | SQLITE_OPEN_URI};
}

// A URI needs no "./", a plain name that begins with "file:" must not be taken for one.
std::string plain(const std::string& path) { return path.starts_with("file:") ? "./" + path : path; }

// Why a store cannot be opened. SQLite tries several things, and its last errno need not be about the first of them.
std::string reason_of_system(const std::string& path, const char* otherwise) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (access(path.c_str(), R_OK) != 0 || access(path.c_str(), W_OK) != 0) return std::strerror(errno);
  if (access(folder.empty() ? "." : folder.c_str(), W_OK) != 0)
    return fmt::format("its folder: {}", std::strerror(errno));
  return otherwise;
}

}  // namespace

Statement::Statement(Statement&& other) noexcept
    : database_(std::exchange(other.database_, nullptr)),
      statement_(std::exchange(other.statement_, nullptr)),
      bound_(std::exchange(other.bound_, 0)) {}

Statement& Statement::operator=(Statement&& other) noexcept {
  std::swap(database_, other.database_);
  std::swap(statement_, other.statement_);
  std::swap(bound_, other.bound_);
  return *this;
}

Statement::~Statement() { sqlite3_finalize(statement_); }

Statement& Statement::bind(std::int64_t value) {
  sqlite3_bind_int64(statement_, ++bound_, value);
  return *this;
}

Statement& Statement::bind(double value) {
  sqlite3_bind_double(statement_, ++bound_, value);
  return *this;
}

Statement& Statement::bind(std::string_view value) {
  sqlite3_bind_text64(statement_, ++bound_, value.data(), value.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  return *this;
}

Statement& Statement::bind_null() {
  sqlite3_bind_null(statement_, ++bound_);
  return *this;
}

Expected<bool> Statement::step() {
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) {
    reset();
    return false;
  }
  Error error = database_->error(code);
  reset();
  return error;
}

Status Statement::run() {
  while (true) {
    MONET_TRY(const bool row, step());
    if (!row) return Done{};
  }
}

void Statement::reset() {
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
  bound_ = 0;
}

bool Statement::is_null(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }

std::int64_t Statement::integer(int column) const { return sqlite3_column_int64(statement_, column); }

double Statement::real(int column) const {
  return is_null(column) ? std::numeric_limits<double>::quiet_NaN() : sqlite3_column_double(statement_, column);
}

std::string Statement::text(int column) const {
  const auto* bytes = sqlite3_column_text(statement_, column);
  if (bytes == nullptr) return {};
  return {reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

Expected<Database> Database::open(const std::string& path, Mode mode) {
  std::error_code ignored;
  if (path != ":memory:" && std::filesystem::exists(path, ignored) &&
      !std::filesystem::is_regular_file(path, ignored)) {
    return Error{.message = std::filesystem::is_directory(path, ignored)
                                ? "the store cannot be opened: it is a folder"
                                : "the store cannot be opened: it is a device or a pipe, not a regular file",
                 .place = path,
                 .advice = "name a file that `monet explore --store` has written"};
  }
  const Opening opening = opening_for(plain(path), mode);
  sqlite3* connection = nullptr;
  const int code = sqlite3_open_v2(opening.name.c_str(), &connection, opening.flags, nullptr);
  Database database(path, connection);
  if (code != SQLITE_OK) return database.error(code);
  sqlite3_extended_result_codes(connection, 0);
  sqlite3_busy_timeout(connection, wait_ms);
  sqlite3_limit(connection, SQLITE_LIMIT_LENGTH, longest_value);
  sqlite3_db_config(connection, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(connection, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  if (mode == Mode::read) MONET_RETURN_IF_ERROR(database.execute("PRAGMA query_only = ON"));
  return database;
}

Database::Database(Database&& other) noexcept
    : path_(std::move(other.path_)), connection_(std::exchange(other.connection_, nullptr)) {}

Database& Database::operator=(Database&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(connection_, other.connection_);
  return *this;
}

Database::~Database() { sqlite3_close_v2(connection_); }

Status Database::execute(const std::string& sql) {
  const int code = sqlite3_exec(connection_, sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return error(code);
  return Done{};
}

Expected<Statement> Database::prepare(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v3(connection_, sql.data(), static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT,
                                      &statement, nullptr);
  if (code != SQLITE_OK) return error(code);
  return Statement(this, statement);
}

Expected<std::int64_t> Database::integer(std::string_view sql) {
  MONET_TRY(Statement question, prepare(sql));
  MONET_TRY(const bool row, question.step());
  return row ? question.integer(0) : 0;
}

std::int64_t Database::changes() const { return sqlite3_changes64(connection_); }

Error Database::damaged(const std::string& what) const {
  return {.message = "the store is damaged: " + what,
          .place = path_,
          .advice = "`monet explore --rescue " + path_ + "` writes what can still be read to a new store"};
}

Error Database::error(int code) const {
  const char* const words = connection_ != nullptr ? sqlite3_errmsg(connection_) : sqlite3_errstr(code);
  const auto make = [&](std::string message, std::string advice) {
    return Error{.message = std::move(message), .place = path_, .advice = std::move(advice)};
  };
  switch (code & 0xff) {
    case SQLITE_NOTADB:
      return make("this is no store: not a SQLite database",
                  "name a file that `monet explore --store` has written; if this is one, and damaged, `monet explore "
                  "--rescue " +
                      path_ + "` writes what can still be read to a new store");
    case SQLITE_CORRUPT: return damaged(words);
    case SQLITE_FULL:
      return make("the disk is full", "make room and continue with --resume: what was found before is kept");
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return make(fmt::format("another process has locked the store for more than {} s", wait_ms / 1000),
                  "end that process, or use another store");
    case SQLITE_READONLY:
      return make("the store may not be written", "change the permissions of the file and its folder, or copy both");
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return make(fmt::format("the store cannot be opened: {}", reason_of_system(path_, words)),
                  "name a file in a folder that exists and may be written to");
    case SQLITE_IOERR:
      return make(fmt::format("the store cannot be read or written: {}", words),
                  "look at the disk; what was found before is kept");
    case SQLITE_NOMEM: return make("there is not enough memory for this store", "end other programs");
    default: return damaged(words);
  }
}

Expected<Transaction> Transaction::begin(Database& database, bool write) {
  MONET_RETURN_IF_ERROR(database.execute(write ? "BEGIN IMMEDIATE" : "BEGIN"));
  return Transaction(database);
}

Transaction::~Transaction() {
  if (database_ != nullptr) (void)database_->execute("ROLLBACK");
}

Status Transaction::commit() {
  MONET_RETURN_IF_ERROR(database_->execute("COMMIT"));
  database_ = nullptr;
  return Done{};
}

}  // namespace monet::explore
