// The values that a machine may have: generous, but such that no sum or quotient of them leaves the numbers.
#pragma once

#include "config/units.h"

#include <monet/expected.h>

#include <string>

namespace monet {

// In the unit of the measure. 0 is outside of the range and yet a value where it costs nothing; where it divides, who
// reads it refuses it.
struct Range {
  double least;
  double most;
  bool or_zero = true;  // as the advice says
};
Range range_of(Measure measure);
// "a value from 1 Hz to 1000 GHz", "0, or a value from …"
std::string range_text(Measure measure);

// Fails for a value that is negative, not finite, or neither 0 nor in the range. `written` is how the file has it.
Status check_range(double value, Measure measure, const std::string& written);

}  // namespace monet
