// Nests of the optimizers that need more than one pass over the parameter. Operations per element are those of the
// formulas under expand/; what is done once per parameter with scalars alone (1 − learning rate · decay) is left out.
#pragma once

#include "graph/nests.h"

namespace monet::optimizer {

// What decay and a factor on the gradient add to each element's operations.
Counts decay_counts(const OperatorSite& site);
Counts factor_counts(const OperatorSite& site);
// Both moments and the step of Adam, without decay and factor.
Counts adam_counts();

Counts operator+(Counts a, const Counts& b);

// Scalar input i at every point.
Access read_scalar(std::size_t input);
// With the factor on the gradient where there is one.
void read_gradient(const OperatorSite& site, std::vector<Access>& reads);

OperatorNests adafactor_nests(const OperatorSite& site);  // of both forms
OperatorNests adam8bit_nests(const OperatorSite& site);

}  // namespace monet::optimizer
