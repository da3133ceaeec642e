// Lookups whose indices are not known, as a step from storage has them.
#pragma once

#include "graph/graph.h"

namespace monet {

// The same graph with indices for every lookup in a table whose own are not known: all different as far as the table
// goes, so that as many rows are read as can be. Which rows they are says nothing; that no others are read is what
// matters where each must be brought from storage.
Graph with_known_rows(Graph graph);

}  // namespace monet
