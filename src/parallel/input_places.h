// What is given to a step for each sample, and where tensors lie that follow from it.
#pragma once

#include "parallel/split.h"

#include <vector>

namespace monet::parallel {

// Inputs that are given anew for each sample: those as long as the first along their first axis.
std::vector<TensorId> batched_inputs(const Graph& step);

// Where tensors would be if they were split as the plan splits inputs wherever they can be: from inputs on, and back
// from those that are added to such tensors.
Places places_from_inputs(const Graph& step, const AxisPlan& plan);

}  // namespace monet::parallel
