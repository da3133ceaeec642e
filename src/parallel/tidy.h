// Sums over chips as soon as there is something to sum, and small ones together.
#pragma once

#include "graph/graph.h"

namespace monet::parallel {

// The same step with sums over one axis of the mesh after another as one, sums of gradients right after the operators
// that make the terms; weights that are gathered one bucket ahead of the one that is read; and with neighbouring
// collectives of one kind joined into one, until it is of `bucket_bytes`, where nothing between them reads their
// results. 0: none are joined.
Graph tidied(Graph step, std::int64_t bucket_bytes);

}  // namespace monet::parallel
