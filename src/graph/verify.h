// What must hold of every graph, checked from scratch: used after every pass in tests and on every file that is read.
#pragma once

#include "graph/graph.h"

#include <monet/expected.h>

namespace monet {

// Names unique; every tensor made once, before it is read; types as infer() says; updates of the same type as what they
// replace; operations countable. The first violation, as a defect that names the node or tensor.
Status verify(const Graph& graph);

}  // namespace monet
