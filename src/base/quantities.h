// Numbers as people read them.
#pragma once

#include "base/prefixes.h"

#include <cstdint>
#include <string>

namespace monet {

// "1,814,073,344"
std::string grouped(std::int64_t number);
// "512 bytes", "46,755,840 bytes (44.59 MiB)"
std::string bytes_text(std::int64_t bytes);
// "9,872,000", "12.5"
std::string cycles_text(double cycles);
// "12.34 ms"
std::string seconds_text(double seconds);
std::string frequency_text(double hertz);           // "1.41 GHz"
std::string rate_text(double operations_per_s);     // "312 TOP/s"
std::string size_text_of_bits(std::int64_t bits);   // "2 MiB", "16 bit"
std::string energy_text(double picojoules);         // "416.2 pJ"
std::string power_text(double watts);               // "492 uW"
std::string value_text(const std::string& value);   // "0.001971 mm2" of "0.00197145580677 mm2"
std::string bandwidth_text(double bits_per_cycle);  // "2048 bit/cycle"

}  // namespace monet
