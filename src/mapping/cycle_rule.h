// Cycles by the rule that a unit states for itself.
#pragma once

#include "config/expression.h"
#include "mapping/problem.h"

namespace monet {

// Of all points of a problem. A rule may name (docs/hardware.md) sizes of the product as a matrix product, and of each
// loop.
double rule_cycles(const Problem& problem, const Expression& rule, double rate);

}  // namespace monet
