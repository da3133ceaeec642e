#include "optimize/memory/milp.h"

#include "optimize/memory/bare_step.h"
#include "optimize/memory/prices.h"

#include <monet/expected.h>

#include <fmt/format.h>

#include <cmath>

namespace monet {

Expected<ProgramDecision> decide_by_program(const Priced& as_it_is, const MemoryPricesInput& input,
                                            const MemoryGoal& goal, remat::MilpOptions options) {
  const BareStep bare = bare_step(as_it_is, input.hardware, input.space, input.memory);
  options.moves.page = options.moves.page && bare.problem.channel.has_value();
  ProgramDecision decision{.variables = remat::milp_variables(bare.problem, options.moves)};
  if (decision.variables > remat::milp_most_variables) {
    return Error{.message = fmt::format("the integer program would have {} variables, more than {}", decision.variables,
                                        remat::milp_most_variables),
                 .place = "--method milp",
                 .advice = "it is for small networks; use --method search"};
  }
  remat::Goal bare_goal{.budget = goal.budget_bytes,
                        .objective = goal.objective.of_parts() == SearchObjective::energy ? remat::Objective::energy
                                                                                          : remat::Objective::time,
                        .transfers_take_time = false};
  if (std::isfinite(goal.deadline_cycles) && input.hardware.clock_hz > 0) {
    bare_goal.deadline = goal.deadline_cycles / input.hardware.clock_hz;
  }
  const remat::MilpResult solved = remat::solve_milp(bare.problem, bare_goal, options);
  decision.proven = solved.proven;
  if (solved.sequence) decision.genome = decisions_of(bare, input.space, *solved.sequence);
  return decision;
}

}  // namespace monet
