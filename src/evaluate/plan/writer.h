// A plan as the text of a plan file.
#pragma once

#include "evaluate/plan/plan.h"

#include <string>

namespace monet {

// plan_from() makes the same plan of it, apart from places.
// Requires: no two entries for operators, or for tensors, have the same name; numbers are finite and positive.
std::string to_yaml(const Plan& plan);

}  // namespace monet
