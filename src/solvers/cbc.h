// Programs by CBC and Clp, within this process.
#pragma once

#include "solvers/program.h"

#include <functional>

namespace monet {

// Gets the best so far, feasible or unknown, each time that it or the bound is better.
using Found = std::function<void(const ProgramSolution&)>;

// Does not ask options.stop, and sees that time is up seconds late: CBC can be told only between nodes and heuristics.
// Not safe with threads.
ProgramSolution solve_by_cbc(const Program& program, const ProgramOptions& options, const Found& found);

}  // namespace monet
