#include "explore/store/owners.h"

#include "base/try.h"

#include <signal.h>
#include <unistd.h>

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace monet::explore {

namespace {

constexpr double silent_s = 60;

std::string content_of(const std::string& path) {
  std::ifstream file(path);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

double now_s() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

// Field 22 of its stat; names, in brackets before it, may hold anything.
std::string start_of(std::int64_t pid) {
  const std::string stat = content_of(fmt::format("/proc/{}/stat", pid));
  std::size_t at = stat.rfind(')');
  // One that has ended and was not waited for yet is there in name only.
  if (at != std::string::npos && at + 2 < stat.size() && (stat[at + 2] == 'Z' || stat[at + 2] == 'X')) return "gone";
  for (int field = 2; field < 22 && at != std::string::npos; ++field) at = stat.find(' ', at + 1);
  return at == std::string::npos ? "" : stat.substr(at + 1, stat.find(' ', at + 1) - at - 1);
}

std::string host_of_this_process() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  std::error_code ignored;
  const std::string numbers = std::filesystem::read_symlink("/proc/self/ns/pid", ignored);
  return fmt::format("{} {} {}", name.data(), content_of("/proc/sys/kernel/random/boot_id"), numbers);
}

}  // namespace

Owner this_process() { return {host_of_this_process(), getpid(), start_of(getpid()), now_s()}; }

bool is_alive(const Owner& owner, const Owner& self) {
  if (owner.host != self.host) return self.heartbeat - owner.heartbeat < silent_s;
  if (kill(static_cast<pid_t>(owner.pid), 0) != 0 && errno == ESRCH) return false;
  return start_of(owner.pid) == owner.start;
}

Expected<std::int64_t> enter_owner(Database& database) {
  const Owner self = this_process();
  // No number is given twice: one that was taken for dead may still come back.
  MONET_TRY(Statement row,
            database.prepare("INSERT INTO owners VALUES ((random() & 0x7fffffffffffffff) | 1, ?, ?, ?, ?)"));
  MONET_RETURN_IF_ERROR(row.bind(self.host).bind(self.pid).bind(self.start).bind(self.heartbeat).run());
  return database.integer("SELECT last_insert_rowid()");
}

Status beat(Database& database, std::int64_t owner) {
  const Owner self = this_process();
  MONET_TRY(Statement row, database.prepare("INSERT INTO owners VALUES (?, ?, ?, ?, ?) "
                                            "ON CONFLICT(owner) DO UPDATE SET heartbeat = excluded.heartbeat"));
  return row.bind(owner).bind(self.host).bind(self.pid).bind(self.start).bind(self.heartbeat).run();
}

Status remove_owner(Database& database, std::int64_t owner) {
  MONET_RETURN_IF_ERROR(database.execute(
      fmt::format("DELETE FROM claims WHERE owner = {0}; DELETE FROM owners WHERE owner = {0}", owner)));
  return Done{};
}

Expected<std::unordered_set<std::int64_t>> dead_owners(Database& database, std::int64_t self) {
  const Owner here = this_process();
  std::unordered_set<std::int64_t> dead;
  MONET_TRY(Statement rows, database.prepare("SELECT owner, host, pid, start, heartbeat FROM owners WHERE owner != ?"));
  rows.bind(self);
  while (true) {
    MONET_TRY(const bool row, rows.step());
    if (!row) return dead;
    if (!is_alive({rows.text(1), rows.integer(2), rows.text(3), rows.real(4)}, here)) dead.insert(rows.integer(0));
  }
}

Status remove_dead_owners(Database& database, std::int64_t self) {
  MONET_TRY(const auto dead, dead_owners(database, self));
  for (const std::int64_t owner : dead) MONET_RETURN_IF_ERROR(remove_owner(database, owner));
  return database.execute("DELETE FROM claims WHERE owner NOT IN (SELECT owner FROM owners)");
}

}  // namespace monet::explore
