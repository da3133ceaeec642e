// SQLite, as far as a store needs it: a connection and its statements, with errors that say what to do.
#pragma once

#include <monet/expected.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

struct sqlite3;
struct sqlite3_stmt;

namespace monet::explore {

class Database;

// One question, asked as often as one likes. Must not outlive its Database.
class Statement {
 public:
  Statement() = default;
  Statement(Statement&& other) noexcept;
  Statement& operator=(Statement&& other) noexcept;
  ~Statement();

  // The next of its `?`.
  Statement& bind(std::int64_t value);
  Statement& bind(double value);
  Statement& bind(std::string_view value);
  Statement& bind_null();
  // Whether there is a row, or one more. After the last one, or an error, it can be bound again.
  Expected<bool> step();
  // To its end.
  Status run();
  void reset();

  // Of the row that is there. A number that is none (NULL) is not a number.
  bool is_null(int column) const;
  std::int64_t integer(int column) const;
  double real(int column) const;
  std::string text(int column) const;

 private:
  friend class Database;
  Statement(Database* database, sqlite3_stmt* statement) : database_(database), statement_(statement) {}

  Database* database_ = nullptr;
  sqlite3_stmt* statement_ = nullptr;
  int bound_ = 0;
};

class Database {
 public:
  enum class Mode {
    make,   // a new file, or in memory for ":memory:"
    write,  // a file that exists
    read,   // a file that exists, which stays as it is
  };
  static Expected<Database> open(const std::string& path, Mode mode);
  Database(Database&& other) noexcept;
  Database& operator=(Database&& other) noexcept;
  ~Database();

  Status execute(const std::string& sql);
  Expected<Statement> prepare(std::string_view sql);
  // Of a question with one answer; 0 where there is no row.
  Expected<std::int64_t> integer(std::string_view sql);
  // Rows that the last statement changed.
  std::int64_t changes() const;
  const std::string& path() const { return path_; }

  // The first bytes of the file that is open, whatever has its name now, and how many it has; none: they cannot be
  // read.
  std::string head(std::size_t bytes) const;
  std::int64_t file_bytes() const;
  // All of it into `other`, which is empty.
  Status copy_to(Database& other);
  // Writes nothing more, not even at its end, to a file that may be another one now.
  void let_go();

  // What the last call, which gave `code`, got wrong.
  Error error(int code) const;
  // Of a file whose content cannot be.
  Error damaged(const std::string& what) const;

 private:
  Database(std::string path, sqlite3* connection) : path_(std::move(path)), connection_(connection) {}

  std::string path_;
  sqlite3* connection_ = nullptr;
};

// Everything or nothing; without `commit`, nothing. `write`: nobody else writes meanwhile.
class Transaction {
 public:
  static Expected<Transaction> begin(Database& database, bool write);
  Transaction(Transaction&& other) noexcept : database_(std::exchange(other.database_, nullptr)) {}
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();
  Status commit();

 private:
  explicit Transaction(Database& database) : database_(&database) {}
  Database* database_;
};

}  // namespace monet::explore
