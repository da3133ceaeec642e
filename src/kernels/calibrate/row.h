// One line of a table of measured kernels.
#pragma once

#include "base/csv_records.h"
#include "kernels/calibrate/measurements.h"

#include <string>

namespace monet {

// `kind`: of the line. Attention's `forward_backward` has the part backward, and the time of both.
Expected<MeasuredKernel> kernel_of(const CsvRecord& record, const std::string& kind);
// Of a line of the kind `energy`.
Expected<MeasuredEnergy> energy_of(const CsvRecord& record);

}  // namespace monet
