// Decisions about memory by the published integer program, on the step as a bare problem.
#pragma once

#include "optimize/memory/search.h"
#include "remat/milp.h"

#include <optional>

namespace monet {

struct ProgramDecision {
  std::size_t variables = 0;     // of the program
  std::optional<Genome> genome;  // nothing: no solution
  bool proven = false;           // the best in its own model, which is not that of the prices
};

// `as_it_is`: the step of `input`, priced. What is decided may break the goal when it is carried out.
// Fails where the program would have too many variables.
Expected<ProgramDecision> decide_by_program(const Priced& as_it_is, const MemoryPricesInput& input,
                                            const MemoryGoal& goal, remat::MilpOptions options);

}  // namespace monet
