// Costs on a core that is described by what was measured on it.
#pragma once

#include "mapping/mapping.h"

#include <monet/expected.h>

namespace monet {

// Operations one after the other, each at its rate: seconds = sum of operations / rate. A core without a rate for an
// operation or a precision is an error that names it. Cycles are of `clock_hz`.
Expected<MappingCost> rate_cost(const Rate& rate, double clock_hz, const Counts& operations,
                                const std::string& precision);

// Operations of all points of a problem.
Counts operations_of(const Problem& problem);

}  // namespace monet
