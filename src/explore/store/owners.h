// Processes that fill a store, and which of them are still there.
#pragma once

#include "explore/store/database.h"

#include <unordered_set>

namespace monet::explore {

struct Owner {
  std::string host;  // machine, start of its system, and space of process numbers
  std::int64_t pid = 0;
  std::string start;     // of the process, as its system counts; another process with its number has another one
  double heartbeat = 0;  // seconds since 1970
};

// This process, now.
Owner this_process();
// On this host: it runs. On another one: it has been heard of within the last minute.
bool is_alive(const Owner& owner, const Owner& self);

// A new row for this process; its number.
Expected<std::int64_t> enter_owner(Database& database);
// Says that this process is there; one that was taken for dead is there again.
Status beat(Database& database, std::int64_t owner);
// With all it claimed.
Status remove_owner(Database& database, std::int64_t owner);
// All that do not live any more, and claims of nobody.
Status remove_dead_owners(Database& database, std::int64_t self);
// Of all but `self`, which must be alive.
Expected<std::unordered_set<std::int64_t>> dead_owners(Database& database, std::int64_t self);

}  // namespace monet::explore
