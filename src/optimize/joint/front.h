// Of plans that were carried out, those that are given back.
#pragma once

#include "optimize/joint/archive.h"
#include "optimize/joint/joint.h"

#include <vector>

namespace monet {

PlanObjectives objectives_of(const Price& price, std::int64_t peak_bytes, const PlanValue& objective);

// Those of which none is better than another, the fastest first; of plans that differ by less than a thousandth in
// everything one, and the best by `objective` in any case.
std::vector<JointPlan> front_of(std::vector<JointPlan> plans, const PlanValue& objective);

}  // namespace monet
