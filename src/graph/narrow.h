// Operators of any number of inputs as chains of operators of few: what a machine works on at once is limited.
#pragma once

#include "graph/graph.h"

#include <monet/expected.h>

#include <string>
#include <vector>

namespace monet {

// Inputs that one operator reads at once at most. With its output they are as many operands as a mapping has room for.
constexpr std::size_t most_inputs_at_once = 15;

// Sum, Max, Min and Mean of more inputs become chains, NAME.1, NAME.2 …: each adds the next inputs to what the ones
// before it have made, in the order of the inputs. The last one keeps the operator's name, and its output its own.
// `notes` receives which they were. Tensors that were there keep their ids.
Expected<Graph> with_few_inputs(Graph graph, std::vector<std::string>& notes);

}  // namespace monet
