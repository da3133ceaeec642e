// Other sizes for the pieces of loops of a mapping that was found.
#pragma once

#include "mapping/builder.h"
#include "mapping/search.h"

namespace monet {

// Moves what a level holds of a loop up or down, also to sizes that divide nothing, as long as it gets better. Improves
// `best` with the order and the cuts that give it.
void refine(const Frame& frame, const SearchOptions& options, OrderBuilder& builder, Score& best,
            std::vector<Factor>& order, Cuts& cuts);

}  // namespace monet
