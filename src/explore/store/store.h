// Outcomes in one file (SQLite), as they come. Nothing that was written is lost, whatever ends the process; several
// processes may fill one store.
#pragma once

#include "explore/price/outcome.h"
#include "explore/price/pricer.h"

#include <monet/version.h>

#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace monet::explore {

constexpr int store_format = 1;

struct StoredWorkload {
  std::string name, graph_hash;
  std::int64_t nodes = 0, parameters = 0;
};

// What a store is of.
struct StoreContent {
  Space space;
  std::string fingerprint;  // DesignPricer::fingerprint
  std::vector<StoredWorkload> workloads;
  std::string version{monet::version};  // of the program whose results they are
};
StoreContent content_of(const DesignPricer& pricer);

// For one thread at a time.
class Store {
 public:
  // `create`: a file that exists is an error that names --resume; else a file that does not exist is made all the same.
  // A store of another space, format or version of this program is an error that says which.
  static Expected<Store> open_to_fill(const std::string& path, const StoreContent& content, bool create);
  static Expected<Store> open_to_fill(const std::string& path, const DesignPricer& pricer, bool create);
  // To look at: of any version that this format has. The space is the one in the store.
  static Expected<Store> open_to_read(const std::string& path);
  // In memory, gone with the object.
  static Expected<Store> scratch(const StoreContent& content);
  static Expected<Store> scratch(const DesignPricer& pricer);
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();

  const Space& space() const;
  const std::vector<StoredWorkload>& workloads() const;
  // Of the program that made it.
  const std::string& version() const;

  Expected<std::optional<Outcome>> find(Design design);
  // Of the designs asked for, those that are neither here nor claimed by another process that is alive; they are then
  // claimed by this one.
  // Where several processes fill the store, no more than a fair share of them, but `least`.
  Expected<std::vector<Design>> claim(std::span<const Design> designs,
                                      std::size_t least = std::numeric_limits<std::size_t>::max());
  // Of the designs asked for, those that another process that is alive has claimed and not yet put here.
  Expected<std::vector<Design>> awaited(std::span<const Design> designs);
  // Durable when it returns, or with the next `flush`: outcomes are written several at a time.
  Status put(const Outcome& outcome);
  Status flush();

  // Whether the file still has all that was written: fails where it was removed, replaced, cut or overwritten since it
  // was opened to be filled, and says in which new store what could be saved is now. The last to be asked then.
  Status check_kept();

  std::uint64_t size();
  // In the order of designs; one at a time, so that memory stays bounded. `look` must leave the store alone.
  Status for_each(const std::function<Status(const Outcome&)>& look);

 private:
  struct Impl;
  explicit Store(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace monet::explore
