#include "explore/store/schema.h"

#include "base/try.h"

#include <monet/version.h>

#include <fcntl.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

namespace monet::explore {

namespace {

constexpr std::int64_t application = 0x4d4f4e45;  // "MONE"

struct Part {
  std::string_view name, sql;
};

constexpr std::array<Part, 7> parts = {{
    {"meta", "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID"},
    {"workloads",
     "CREATE TABLE workloads (workload INTEGER PRIMARY KEY, name TEXT, network TEXT, weight REAL, graph_hash TEXT, "
     "nodes INTEGER, parameters INTEGER)"},
    {"designs",
     "CREATE TABLE designs (design INTEGER PRIMARY KEY, parameters TEXT, failure TEXT, excluded INTEGER, "
     "hardware_hash TEXT, area_mm2 REAL, static_w REAL, macs_per_cycle REAL, on_chip_bits INTEGER)"},
    {"results",
     "CREATE TABLE results (design INTEGER, workload INTEGER, failure TEXT, latency_cycles REAL, latency_s REAL, "
     "energy_pj REAL, peak_bytes INTEGER, macs REAL, utilization REAL, stacks INTEGER, tiles INTEGER, "
     "recomputed INTEGER, paged INTEGER, recipe TEXT, PRIMARY KEY (design, workload)) WITHOUT ROWID"},
    {"owners", "CREATE TABLE owners (owner INTEGER PRIMARY KEY, host TEXT, pid INTEGER, start TEXT, heartbeat REAL)"},
    {"claims", "CREATE TABLE claims (design INTEGER PRIMARY KEY, owner INTEGER)"},
    {"explored",
     "CREATE VIEW explored AS SELECT designs.design, designs.parameters, designs.area_mm2, designs.static_w, "
     "designs.macs_per_cycle, designs.on_chip_bits, designs.excluded, workloads.name AS workload, "
     "coalesce(designs.failure, results.failure) AS failure, results.latency_cycles, results.latency_s, "
     "results.energy_pj, results.latency_s * results.energy_pj AS edp, results.peak_bytes, results.macs, "
     "results.utilization, results.stacks, results.tiles, results.recomputed, results.paged, results.recipe FROM "
     "designs "
     "LEFT JOIN results ON results.design = designs.design "
     "LEFT JOIN workloads ON workloads.workload = results.workload"},
}};

Error no_store(const std::string& path, const std::string& why) {
  return {.message = "this is no store: " + why,
          .place = path,
          .advice = "name a file that `monet explore --store` has written"};
}

// The quick way of keeping a journal needs memory that all processes share, which files on another machine have not.
bool is_remote(const std::string& folder) {
  struct statfs found{};
  if (statfs(folder.c_str(), &found) != 0) return false;
  constexpr std::array<std::uint32_t, 7> remote = {0x6969,     0x517b,     0xfe534d42, 0xff534d42,  // NFS, SMB
                                                   0x0bd00bd0, 0x00c36400, 0x47504653};  // Lustre, Ceph, GPFS
  return std::ranges::find(remote, static_cast<std::uint32_t>(found.f_type)) != remote.end();
}

std::string folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path();
  return folder.empty() ? "." : folder;
}

Status make_journal(Database& database) {
  return database.execute(is_remote(folder_of(database.path())) ? "PRAGMA journal_mode = TRUNCATE"
                                                                : "PRAGMA journal_mode = WAL");
}

Error cannot_make(const std::string& path, int code) {
  return {.message = fmt::format("the store cannot be made: {}", std::strerror(code)),
          .place = path,
          .advice = "name a file in a folder that exists and may be written to"};
}

// Under its name, unless there is a file of that name.
Status give_name(const std::string& from, const std::string& to, bool& exists) {
  if (link(from.c_str(), to.c_str()) == 0) {
    unlink(from.c_str());
  } else if (errno == EEXIST || access(to.c_str(), F_OK) == 0) {
    exists = true;
    unlink(from.c_str());
    return Done{};
  } else if (rename(from.c_str(), to.c_str()) != 0) {  // a file system without links
    const int code = errno;
    unlink(from.c_str());
    return cannot_make(to, code);
  }
  if (const int folder = ::open(folder_of(to).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); folder >= 0) {
    fsync(folder);
    close(folder);
  }
  return Done{};
}

Status check_tables(Database& database) {
  MONET_TRY(Statement question, database.prepare("SELECT sql FROM sqlite_schema WHERE name = ?"));
  for (const Part& part : parts) {
    question.bind(part.name);
    MONET_TRY(const bool found, question.step());
    const std::string sql = found ? question.text(0) : "";
    question.reset();
    if (sql != part.sql)
      return database.damaged(fmt::format("'{}' is {} what it was", part.name, found ? "not" : "gone, which is not"));
  }
  return Done{};
}

}  // namespace

Status make_tables(Database& database, const StoreContent& content) {
  MONET_TRY(Transaction transaction, Transaction::begin(database, true));
  for (const Part& part : parts) MONET_RETURN_IF_ERROR(database.execute(std::string(part.sql)));
  MONET_RETURN_IF_ERROR(
      database.execute(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", application, store_format)));
  MONET_TRY(Statement meta, database.prepare("INSERT INTO meta VALUES (?, ?)"));
  const Space& space = content.space;
  const std::array<std::pair<std::string_view, std::string_view>, 5> entries = {{{"version", content.version},
                                                                                 {"fingerprint", content.fingerprint},
                                                                                 {"space", space.name},
                                                                                 {"space_text", space.text},
                                                                                 {"space_path", space.path}}};
  for (const auto& [key, value] : entries) MONET_RETURN_IF_ERROR(meta.bind(key).bind(value).run());
  MONET_TRY(Statement row, database.prepare("INSERT INTO workloads VALUES (?, ?, ?, ?, ?, ?, ?)"));
  for (std::size_t i = 0; i < content.workloads.size(); ++i) {
    const StoredWorkload& stored = content.workloads[i];
    row.bind(static_cast<std::int64_t>(i)).bind(stored.name).bind(space.workloads[i].network.name());
    row.bind(space.workloads[i].weight).bind(stored.graph_hash).bind(stored.nodes).bind(stored.parameters);
    MONET_RETURN_IF_ERROR(row.run());
  }
  return transaction.commit();
}

Status make_file(const std::string& path, bool& exists, const std::function<Status(Database&)>& make) {
  // Looked for first: a process that makes the same store has the journal only after the file.
  const std::string journal = path + "-wal";
  const bool has_journal = access(journal.c_str(), F_OK) == 0;
  exists = access(path.c_str(), F_OK) == 0;
  if (exists) return Done{};
  if (has_journal)
    return Error{.message = "the journal of a store that is gone would become part of the new one",
                 .place = journal,
                 .advice = "remove it, or name another store with --store"};
  const std::string unfinished = fmt::format("{}.{}.new", path, getpid());
  unlink(unfinished.c_str());
  // SQLite, where it may not make a file, looks for it once more, and then says only that it is not there.
  const int file = ::open(unfinished.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (file < 0) return cannot_make(path, errno);
  close(file);
  const auto make_whole = [&]() -> Status {
    MONET_TRY(Database database, Database::open(unfinished, Database::Mode::make));
    return make(database);
  };
  if (Status made = make_whole(); !made) {
    unlink(unfinished.c_str());
    made.error().place = path;
    return made;
  }
  return give_name(unfinished, path, exists);
}

Status make_store_file(const std::string& path, const StoreContent& content, bool& exists,
                       const std::function<Status(Database&)>& fill) {
  return make_file(path, exists, [&](Database& database) -> Status {
    MONET_RETURN_IF_ERROR(make_journal(database));
    MONET_RETURN_IF_ERROR(make_tables(database, content));
    return fill ? fill(database) : Status(Done{});
  });
}

Expected<StoreIdentity> read_identity(Database& database) {
  MONET_TRY(const std::int64_t things, database.integer("SELECT count(*) FROM sqlite_schema"));
  if (things == 0) return no_store(database.path(), "it is empty");
  MONET_TRY(const std::int64_t written_by, database.integer("PRAGMA application_id"));
  if (written_by != application) return no_store(database.path(), "a SQLite database of another program");
  MONET_TRY(const std::int64_t format, database.integer("PRAGMA user_version"));
  if (format != store_format)
    return Error{.message = fmt::format("the store has format {}, this program (monet {}) knows format {}", format,
                                        version, store_format),
                 .place = database.path(),
                 .advice = format > store_format ? "use the newer program that wrote it"
                                                 : "use the older program that wrote it, or begin a new store"};
  // SQLite takes the rest of a last page for zeros.
  MONET_TRY(const std::int64_t page_bytes, database.integer("PRAGMA page_size"));
  if (database.file_bytes() % page_bytes != 0) return database.damaged("it ends in the middle of a page");
  MONET_TRY(Statement check, database.prepare("PRAGMA quick_check(1)"));
  MONET_TRY(const bool checked, check.step());
  if (checked && check.text(0) != "ok") return database.damaged(check.text(0));
  check.reset();
  MONET_RETURN_IF_ERROR(check_tables(database));

  StoreIdentity identity;
  MONET_TRY(Statement meta, database.prepare("SELECT value FROM meta WHERE key = ?"));
  const std::array<std::pair<const char*, std::string*>, 4> entries = {{{"version", &identity.version},
                                                                        {"fingerprint", &identity.fingerprint},
                                                                        {"space_text", &identity.space_text},
                                                                        {"space_path", &identity.space_path}}};
  for (const auto& [key, value] : entries) {
    meta.bind(std::string_view(key));
    MONET_TRY(const bool found, meta.step());
    if (!found) return database.damaged(fmt::format("it does not say its {}", key));
    *value = meta.text(0);
    meta.reset();
  }
  MONET_TRY(Statement rows, database.prepare("SELECT name, graph_hash, nodes, parameters FROM workloads ORDER BY "
                                             "workload"));
  while (true) {
    MONET_TRY(const bool row, rows.step());
    if (!row) return identity;
    identity.workloads.push_back({rows.text(0), rows.text(1), rows.integer(2), rows.integer(3)});
  }
}

Status check_same(const StoreIdentity& identity, const StoreContent& content, const std::string& path) {
  const auto refuse = [&](std::string what) {
    return Error{.message = "the store has other results: " + std::move(what),
                 .place = path,
                 .advice = "begin another store with --store; `monet explore --show` still shows this one"};
  };
  if (identity.version != monet::version)
    return refuse(fmt::format("monet {} made it, this is {}", identity.version, monet::version));
  if (identity.fingerprint == content.fingerprint) return Done{};
  if (identity.space_text != content.space.text)
    return refuse("its space is not the same text as " + content.space.path);
  for (std::size_t i = 0; i < std::min(identity.workloads.size(), content.workloads.size()); ++i) {
    if (identity.workloads[i].graph_hash != content.workloads[i].graph_hash)
      return refuse(fmt::format("the network of workload '{}' is another one now", identity.workloads[i].name));
  }
  return refuse("the hardware file that the space names is another one now");
}

}  // namespace monet::explore
