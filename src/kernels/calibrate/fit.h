// Coefficients of laws from measured kernels.
#pragma once

#include "kernels/calibrate/measurements.h"
#include "kernels/laws/forms.h"

#include <vector>

namespace monet {

struct ClassError {
  KernelClass kernel_class;
  std::size_t measured = 0;
  double law = 0;       // mean of |measured / law − 1| on the kernels that it was fitted to
  double left_out = 0;  // the same by laws and residuals of the others alone
};

// Bandwidths of the last cache and of memory, from plain element-wise kernels; stays as it is where there are none.
void fit_memory(KernelLaws& laws, const std::vector<MeasuredKernel>& kernels);
// By how much reductions of middle size take longer on cold operands: what products and convolutions are given too.
void fit_cold_slowdown(KernelLaws& laws, const std::vector<MeasuredKernel>& kernels);
// Coefficients of one class, from `kernels` of it.
Coefficients fit_coefficients(const KernelLaws& laws, const KernelClass& of,
                              const std::vector<MeasuredKernel>& kernels);
// All classes that were measured; residuals are complete. Errors are by `folds` parts, each left out in turn.
std::vector<ClassError> fit_classes(KernelLaws& laws, const std::vector<MeasuredKernel>& kernels, int folds,
                                    std::size_t jobs);

// Power and energies; errors likewise, without a class. Nothing changes where fewer than a dozen kernels were measured.
ClassError fit_energy(KernelLaws& laws, const std::vector<MeasuredEnergy>& energies, int folds);

}  // namespace monet
