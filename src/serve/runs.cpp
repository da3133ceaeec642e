#include "serve/runs.h"

#include "base/try.h"

#include <filesystem>

namespace monet::serving {

namespace {

constexpr std::string_view made = R"(
  CREATE TABLE IF NOT EXISTS runs (
    id INTEGER PRIMARY KEY, at TEXT NOT NULL, command TEXT NOT NULL, title TEXT NOT NULL, words TEXT NOT NULL,
    question TEXT NOT NULL, latency_s REAL NOT NULL, energy_pj REAL NOT NULL, peak_bytes INTEGER NOT NULL,
    result TEXT NOT NULL, plan TEXT NOT NULL, page TEXT NOT NULL);
  CREATE TABLE IF NOT EXISTS jobs (
    id INTEGER PRIMARY KEY, title TEXT NOT NULL, words TEXT NOT NULL, question TEXT NOT NULL))";
constexpr int version = 1;

Run run_of(const explore::Statement& row) {
  Run run{.id = row.integer(0), .at = row.text(1), .command = row.text(2), .title = row.text(3), .words = row.text(4)};
  run.question = row.text(5);
  run.latency_s = row.real(6);
  run.energy_pj = row.real(7);
  run.peak_bytes = row.integer(8);
  return run;
}

}  // namespace

Expected<Runs> Runs::open(const std::string& path) {
  using explore::Database;
  std::error_code ignored;
  const bool is_there = std::filesystem::exists(path, ignored);
  MONET_TRY(Database database, Database::open(path, is_there ? Database::Mode::write : Database::Mode::make));
  MONET_RETURN_IF_ERROR(database.execute("PRAGMA journal_mode=WAL"));
  MONET_TRY(const std::int64_t found, database.integer("PRAGMA user_version"));
  if (found > version)
    return Error{.message = "the history was written by a newer version of this program",
                 .place = path,
                 .advice = "use that version, or another --folder"};
  MONET_RETURN_IF_ERROR(database.execute(std::string(made)));
  MONET_RETURN_IF_ERROR(database.execute("PRAGMA user_version = " + std::to_string(version)));
  return Runs(std::move(database));
}

Expected<std::int64_t> Runs::add(const Run& run) {
  const std::lock_guard lock(*mutex_);
  MONET_TRY(
      explore::Statement insert,
      database_->prepare("INSERT INTO runs (at, command, title, words, question, latency_s, energy_pj, peak_bytes, "
                         "result, plan, page) VALUES (datetime('now'), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
  insert.bind(run.command).bind(run.title).bind(run.words).bind(run.question).bind(run.latency_s).bind(run.energy_pj);
  insert.bind(run.peak_bytes).bind(run.result).bind(run.plan).bind(run.page);
  MONET_RETURN_IF_ERROR(insert.run());
  return database_->integer("SELECT last_insert_rowid()");
}

Expected<std::vector<Run>> Runs::list(std::int64_t most) {
  const std::lock_guard lock(*mutex_);
  MONET_TRY(explore::Statement rows,
            database_->prepare("SELECT id, at, command, title, words, question, latency_s, energy_pj, peak_bytes "
                               "FROM runs ORDER BY id DESC LIMIT ?"));
  rows.bind(most);
  std::vector<Run> runs;
  for (;;) {
    MONET_TRY(const bool is_row, rows.step());
    if (!is_row) return runs;
    runs.push_back(run_of(rows));
  }
}

Expected<std::optional<Run>> Runs::find(std::int64_t id) {
  const std::lock_guard lock(*mutex_);
  MONET_TRY(explore::Statement rows,
            database_->prepare("SELECT id, at, command, title, words, question, latency_s, energy_pj, peak_bytes, "
                               "result, plan, page FROM runs WHERE id = ?"));
  rows.bind(id);
  MONET_TRY(const bool is_row, rows.step());
  if (!is_row) return std::optional<Run>();
  Run run = run_of(rows);
  run.result = rows.text(9);
  run.plan = rows.text(10);
  run.page = rows.text(11);
  return std::optional<Run>(std::move(run));
}

Status Runs::begin_job(const BegunJob& job) {
  const std::lock_guard lock(*mutex_);
  MONET_TRY(explore::Statement insert,
            database_->prepare("INSERT INTO jobs (id, title, words, question) VALUES (?, ?, ?, ?)"));
  insert.bind(job.id).bind(job.title).bind(job.words).bind(job.question);
  return insert.run();
}

Status Runs::end_job(std::int64_t id) {
  const std::lock_guard lock(*mutex_);
  MONET_TRY(explore::Statement erase, database_->prepare("DELETE FROM jobs WHERE id = ?"));
  erase.bind(id);
  return erase.run();
}

Expected<std::vector<BegunJob>> Runs::begun_jobs() {
  const std::lock_guard lock(*mutex_);
  MONET_TRY(explore::Statement rows, database_->prepare("SELECT id, title, words, question FROM jobs ORDER BY id"));
  std::vector<BegunJob> jobs;
  for (;;) {
    MONET_TRY(const bool is_row, rows.step());
    if (!is_row) return jobs;
    jobs.push_back({rows.integer(0), rows.text(1), rows.text(2), rows.text(3)});
  }
}

}  // namespace monet::serving
