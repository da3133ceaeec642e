// Whether one chip's step can mean what its layouts say: an interpretation of it from its inputs on, one axis of the
// mesh at a time, that shares no code with what made it.
#pragma once

#include "parallel/recipe.h"

#include <string>
#include <vector>

namespace monet::parallel {

// What is wrong, with the node; empty: nothing is. Looked at: groups are the chips, each once; every operator's
// operands are pieces of the same loop, as its own nests have it, or whole; nothing reads a sum of which it has a term
// alone, unless it is linear; collectives get what they take; what replaces a tensor lies as that does; no result is a
// term. Cost: linear in the graph, times the axes of the mesh.
std::vector<std::string> check(const ParallelStep& step);

}  // namespace monet::parallel
