// The tables of a store (docs/store.md), and whether a file has them.
#pragma once

#include "explore/store/database.h"
#include "explore/store/store.h"

#include <functional>

namespace monet::explore {

// What a store says of itself.
struct StoreIdentity {
  std::string version, fingerprint, space_text, space_path;
  std::vector<StoredWorkload> workloads;
};

// Into an empty database.
Status make_tables(Database& database, const StoreContent& content);
// A whole file that `make` fills, or none: nobody sees a part of one. `exists` says that there is a file of that name
// already, which is left alone.
Status make_file(const std::string& path, bool& exists, const std::function<Status(Database&)>& make);
// The same, with the tables and what `fill` adds.
Status make_store_file(const std::string& path, const StoreContent& content, bool& exists,
                       const std::function<Status(Database&)>& fill = {});

// Fails where the file is none of ours, of another format, or damaged.
Expected<StoreIdentity> read_identity(Database& database);
// Fails where results of `content` are not those of the store, and says why.
Status check_same(const StoreIdentity& identity, const StoreContent& content, const std::string& path);

}  // namespace monet::explore
