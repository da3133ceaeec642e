// Measured kernels of one class as a machine's file has them: numbers, a kernel behind the other, separated by commas.
#pragma once

#include "kernels/law_values.h"

#include <monet/expected.h>

#include <string>
#include <string_view>
#include <vector>

namespace monet {

// "batch m n k bias us": what the numbers of one kernel are.
std::string measured_columns(KernelKind kind);
std::string measured_text(const MeasuredKernel& measured);
// Of a whole class; an error has a message alone.
Expected<std::vector<MeasuredKernel>> parse_measured(const KernelClass& of, std::string_view text);

}  // namespace monet
