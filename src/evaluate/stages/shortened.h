// A deep network of equal blocks by three of them: what is worked out for one holds for all.
#pragma once

#include "graph/graph.h"

#include <cstddef>
#include <optional>

namespace monet {

struct ShortenedStep {
  Graph graph;             // with the first block, one of those between, and the last
  std::size_t blocks = 0;  // that the step has
};

inline constexpr std::size_t kept_blocks = 3;

// The step without all but one of the blocks between the first and the last: whoever read something of the others reads
// the same of the one that is left, or of the last. None: there are no more than three, or they are not equal, operator
// by operator, forward, backward and in the optimizer.
// Ensures: find_blocks() finds three. Cost: linear in the graph.
std::optional<ShortenedStep> shortened(const Graph& step);

}  // namespace monet
