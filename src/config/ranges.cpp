#include "config/ranges.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace monet {

Range range_of(Measure measure) {
  static constexpr std::array<Range, 13> ranges = {{
      {1e-12, 1e15},          // number
      {1, 0x1p60, false},     // size: a bit to 128 PiB
      {1e-6, 0x1p40, false},  // bandwidth, bits a cycle: a bit in a million cycles to 128 GiB in one
      {1, 1e12, false},       // frequency: 1 Hz to 1 THz
      {1e-12, 1e12},          // energy, pJ: a thousandth of what a bit must cost at room temperature to 1 J
      {1e-12, 1e12},          // access_energy
      {1e-12, 1e12},          // energy_per_bit
      {1e-12, 1e12},          // energy_per_cycle
      {1e-15, 1e9},           // power: 1 fW to 1 GW
      {1e-9, 1e12},           // time, cycles
      {1e-15, 1e9},           // area, mm2: less than an atom to 1000 m2
      {1e-1, 1e6, false},     // length: 0.1 nm to 1 mm
      {1, 1e21, false},       // rate: one operation a second to a zettascale machine
  }};
  return ranges[static_cast<std::size_t>(measure)];
}

std::string range_text(Measure measure) {
  const Range range = range_of(measure);
  return fmt::format("{}a value from {} to {}", range.or_zero ? "0, or " : "", format_measure(range.least, measure),
                     format_measure(range.most, measure));
}

Status check_range(double value, Measure measure, const std::string& written) {
  if (value < 0) return Error{.message = fmt::format("'{}' is negative", written)};
  const Range range = range_of(measure);
  if (value == 0 || (value >= range.least && value <= range.most)) return Done{};
  const char* const how = std::isfinite(value) && value < range.least ? "less" : "more";
  return Error{.message = fmt::format("'{}' is {} than any machine has", written, how),
               .advice = fmt::format("write {}", range_text(measure))};
}

}  // namespace monet
