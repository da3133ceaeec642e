// Measured steps by what they have in common.
#pragma once

#include "validate/groundtruth.h"

#include <monet/validate.h>

#include <vector>

namespace monet {

// One group for each network and one for each precision. Requires: the first rows of the validation are the same
// quantities of each step, step by step. Of a network, pairs of its steps are in order when the one whose first
// quantity was measured larger is modelled larger.
std::vector<ValidationGroup> groups_of(const std::vector<MeasuredStep>& steps, const Validation& validation);

}  // namespace monet
