// What can still be read of a damaged store.
#pragma once

#include "explore/store/pages.h"
#include "explore/store/schema.h"

#include <map>

namespace monet::explore {

// What it says of itself; what it does not say any more is empty.
StoreIdentity salvage_identity(const PageReader& pages);

struct Salvaged {
  std::map<Design, Outcome> outcomes;
  std::uint64_t broken = 0;  // designs of which a part was found
};
// Designs of `space` of which every part is there, and is what a store has: parameters that are those of the design's
// number, results of all workloads, numbers. A number inside that is another one than was written cannot be told.
Salvaged salvage_outcomes(const PageReader& pages, const Space& space);

}  // namespace monet::explore
