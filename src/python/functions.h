// Functions of the user's own in Python, as the library asks them.
#pragma once

#include "python/call.h"

#include <monet/evaluate.h>
#include <monet/explore.h>
#include <monet/objective.h>

namespace monet::python {

// None gives none. Both must outlive what is returned.
PlanObjective plan_objective(Call& call, const nanobind::object& function);
DesignObjective design_objective(Call& call, const nanobind::object& function);
// From types of operators to functions of a CustomTile that give (cycles, energy_pj) or None.
CustomCosts custom_costs(Call& call, const nanobind::dict& functions);

}  // namespace monet::python
