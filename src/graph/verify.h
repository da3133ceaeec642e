// What must hold of every graph, checked from scratch: used after every pass in tests and on every file that is read.
#pragma once

#include "graph/graph.h"

#include <monet/expected.h>

namespace monet {

// Names unique; every tensor made once, before it is read; shapes as infer() says (formats may be other ones: precision
// is a choice); the first output of every node there; updates of the same type as what they replace, one for
// each, and no reader of what is replaced afterwards. The first violation, as a defect that names the node or tensor.
// The sums over the graph of all bytes and of all operations fit 64 bits: if not, it is the user's error.
Status verify(const Graph& graph);

}  // namespace monet
