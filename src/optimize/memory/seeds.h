// Where the search begins: forms of checkpointing that are known to be good for chains.
#pragma once

#include "optimize/memory/space.h"

#include <vector>

namespace monet {

// All kept; saved tensors paged, weights and optimizer state paged, and both, for each storage; and for rising numbers
// of segments: what crosses from one segment of the forward part to the next is kept, all else recomputed (segments of
// about equal saved bytes, cut where little crosses); each in every order.
std::vector<Genome> memory_seeds(const Graph& step, const MemorySpace& space);

}  // namespace monet
