// Quantities with units, as files write them: 2 MiB, 512 bit/cycle, 500 MHz, 0.095 pJ, 3 pJ/bit, 1 nJ, 22 nm, 4 TOP/s.
#pragma once

#include <monet/expected.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace monet {

// Exponents of the base units: bit, cycle, second, picojoule, nanometre, operation.
struct Dimension {
  std::int8_t bit = 0, cycle = 0, second = 0, energy = 0, length = 0, operation = 0;

  bool operator==(const Dimension&) const = default;
  bool is_number() const { return *this == Dimension{}; }
};
Dimension operator+(const Dimension& a, const Dimension& b);
Dimension operator-(const Dimension& a, const Dimension& b);

struct Quantity {
  double value = 0;  // in base units
  Dimension dimension;
};

// What a value in a file measures, and the unit in which Hardware keeps it.
enum class Measure : std::uint8_t {
  number,            // no unit
  size,              // bits
  bandwidth,         // bits a cycle
  frequency,         // hertz
  energy,            // picojoules
  access_energy,     // picojoules; also written a bit
  energy_per_bit,    // picojoules a bit
  energy_per_cycle,  // picojoules a cycle
  power,             // watts
  time,              // cycles
  area,              // square millimetres
  length,            // nanometres
  rate,              // operations a second
};

// "a size, for example 2 MiB or 64 kbit"
std::string expected_form(Measure measure);
// "2 MiB"
std::string_view example_of(Measure measure);
// The unit in which Hardware keeps it: "pJ".
std::string_view unit_of(Measure measure);
// "416.16 pJ", "2 MiB", "50 mW", from a value in that unit.
std::string format_measure(double value, Measure measure);

// A unit by name: "MiB", "pJ". Its value is exact where it is a power of ten or two.
struct UnitScale {
  int exponent = 0;   // of ten
  double factor = 1;  // and a power of two
  Dimension dimension;
};
std::optional<UnitScale> unit_named(std::string_view name);
// The unit that was probably meant: "KB" gives "kB (1000 bytes) or KiB (1024 bytes)"; may be empty.
std::string unit_meant(std::string_view name);

// `number` is a decimal number ("1.5", "2e3"); `unit` as in "bit/cycle", empty for none. The result is the nearest
// double. Fails with a message alone.
Expected<Quantity> make_quantity(std::string_view number, std::string_view unit);
// Both in one text. A text that does not start with a number is an error.
Expected<Quantity> parse_quantity(std::string_view text);
// The number at the start of `text`; its length, 0: there is none.
std::size_t number_length(std::string_view text);

// In the unit of `measure`; a time in seconds, a bandwidth in bits a second are converted by `clock_hz` (0: an error).
// Fails with a message that shows the expected form when the dimension is another.
Expected<double> convert(const Quantity& quantity, Measure measure, double clock_hz);

}  // namespace monet
