// A mapping that was found, in full.
#pragma once

#include "mapping/builder.h"

namespace monet {

// The order of a finished builder with the candidates chosen.
MappedProblem describe(const Frame& frame, const OrderBuilder& builder, const Cuts& cuts);

// Cycles and picojoules that no mapping of the problem on the target can go below: all lanes at work all the time, and
// every operand through the port of its home once.
void set_bounds(const Problem& problem, const Target& target, MappingCost& cost);

}  // namespace monet
