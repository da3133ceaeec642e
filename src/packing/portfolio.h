// Search in several orders in turn, each time longer.
#pragma once

#include "packing/greedy.h"
#include "packing/search.h"

namespace monet::packing {

// The offsets of a packing within `capacity` when it is found.
Outcome find_packing(const Problem& problem, std::int64_t capacity, SearchLimit& limit, Offsets& found);

}  // namespace monet::packing
