// The formulation of POET and Checkmate as an integer program: the oracle of the search.
#pragma once

#include "remat/goal.h"
#include "remat/repair.h"

#include <limits>
#include <optional>

namespace monet::remat {

struct MilpOptions {
  Moves moves;  // recompute, page
  double time_limit_s = std::numeric_limits<double>::infinity();
  Stop stop = [] { return false; };
};

struct MilpResult {
  std::optional<Sequence> sequence;  // within the budget and the deadline
  double bound = 0;                  // of its own model; infinite: nothing fits
  bool proven = false;               // the sequence is the best of this model
};

// Variables that the program for a problem has.
std::size_t milp_variables(const Problem& problem, const Moves& moves);
constexpr std::size_t milp_most_variables = 400'000;

// Stages, one for each node, in which it runs for the first time; before it, earlier nodes may run again, each once and
// in order. A page-in is there from the next stage on; a page-out is of what was there when the stage began. Transfers
// take no time. Sequences are a little freer than that, so the best one can be cheaper.
// Requires: milp_variables(problem, options.moves) <= milp_most_variables.
MilpResult solve_milp(const Problem& problem, const Goal& goal, const MilpOptions& options);

}  // namespace monet::remat
