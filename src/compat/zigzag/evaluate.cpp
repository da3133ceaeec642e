#include "compat/zigzag/evaluate.h"

#include "compat/zigzag/allocate.h"
#include "compat/zigzag/energy.h"
#include "compat/zigzag/latency.h"
#include "compat/zigzag/movement.h"

namespace monet::zigzag {

Verdict evaluate(const Plan& plan, std::span<const Factor> order, const Ceiling& ceiling, State& state) {
  set_order(state, order);
  if (!allocate(plan, state)) return Verdict::too_small;
  move_data(plan, state, average);
  if (!cost_energy(plan, state)) return Verdict::no_port;
  if (state.energy_pj > ceiling.energy_pj) return Verdict::too_costly;
  if (plan.time != average) move_data(plan, state, plan.time);
  cost_latency(plan, state);
  return Verdict::costed;
}

}  // namespace monet::zigzag
