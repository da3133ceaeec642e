// New stores with what is left of one that is damaged or gone.
#pragma once

#include "explore/store/database.h"
#include "explore/store/store.h"

#include <optional>
#include <span>

namespace monet::explore {

struct RescuedStore {
  std::string path;
  std::uint64_t designs = 0;
  std::uint64_t broken = 0;  // of which a part was found, and no more
};

// "toy.rescued.sqlite" of "toy.sqlite", "toy.rescued-2.sqlite" where there is one.
std::string name_for_rescued(const std::string& path);

// Reads `damaged` page by page and leaves it as it is. `given` is what the store is of, where it does not say so any
// more; where it does, they must agree. `target` must be no file; empty: a name of its own.
Expected<RescuedStore> rescue(const std::string& damaged, const std::optional<StoreContent>& given,
                              const std::string& target);

// What was being filled and is gone: a copy of what is still open where that is `whole`, else what its file and its
// journal have; `pending` goes with it. To a name beside it, else here, else among temporary files.
Expected<RescuedStore> rescue_open(Database& database, bool whole, const StoreContent& content,
                                   std::span<const Outcome> pending);

}  // namespace monet::explore
