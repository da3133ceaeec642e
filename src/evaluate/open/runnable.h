// Which operators of a step no core of a machine can run, and what is done about those that consist of others.
#pragma once

#include "graph/graph.h"
#include "hardware/hardware.h"
#include "mapping/extract.h"

#include <monet/error.h>
#include <monet/expected.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace monet {

// Operators of one type that no core can run, for the same reasons.
struct Unrunnable {
  std::string op;
  std::int64_t count = 0;
  std::string example;               // the name of the first
  std::vector<std::string> reasons;  // one for each type of core
};

// In the order of the graph. Custom operators are not among them: whether they run depends on the costs that are given.
std::vector<Unrunnable> unrunnable_operators(const Graph& graph, const Hardware& hardware,
                                             const ExtractOptions& options = {});

// All of them in one message. Requires that there are some.
Error unrunnable_error(const Hardware& hardware, std::span<const Unrunnable> operators);

// Parts of an operator X are named X.OPERATOR.
struct ExpandedGraph {
  Graph graph;
  std::vector<std::string> names;  // of operators that were expanded
  std::vector<std::string> notes;
};

// The graph with each composite operator that no core can run, and those that `also` names, as the simpler operators of
// which it consists; again, where a part is of that kind too. What a core can run stays whole.
Expected<ExpandedGraph> expanded_for(Graph graph, const Hardware& hardware, const ExtractOptions& options,
                                     std::span<const std::string> also = {});

// Equal for two machines on which the same operators can run.
std::string abilities_of(const Hardware& hardware);

}  // namespace monet
