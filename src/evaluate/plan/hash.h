// Content hashes: a plan says with them for which graph and machine it was made.
#pragma once

#include "graph/graph.h"
#include "hardware/hardware.h"

#include <monet/expected.h>
#include <monet/plan.h>

#include <string>
#include <vector>

namespace monet {

// 32 hexadecimal digits, the same on every machine and in every run. Of a graph: its operators in order, with names,
// attributes and phases; its tensors with names, shapes, formats, roles and known values; and what is joined to what.
// Of a machine: every part with its name and all values that a result can depend on. The name of the network or
// machine, the file that it comes from, descriptions and sources are not in it.
std::string hash_of(const Graph& graph);
std::string hash_of(const Hardware& hardware);

// Fails for a plan that was made for another graph (before anything is recomputed) or machine; with `force` that is a
// warning.
Expected<std::vector<std::string>> check_hashes(const Plan& plan, const Graph& graph, const Hardware& hardware,
                                                bool force = false);

}  // namespace monet
