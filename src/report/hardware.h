// Hardware as something to read: collected into plain numbers, or drawn.
#pragma once

#include "hardware/hardware.h"

#include <monet/hardware.h>

namespace monet {

HardwareReport summarize(const Hardware& hardware);

// The system as SVG: chips with their cores and memories, what joins them, and what lies outside. Equal cores beyond a
// few are drawn once in full and as small squares otherwise. Equal machines give equal pictures.
std::string draw(const Hardware& hardware);

// Quantities as people read them.
std::string frequency_text(double hertz);           // "1.41 GHz"
std::string rate_text(double operations_per_s);     // "312 TOP/s"
std::string size_text_of_bits(std::int64_t bits);   // "2 MiB", "16 bit"
std::string energy_text(double picojoules);         // "416.2 pJ"
std::string power_text(double watts);               // "492 uW"
std::string value_text(const std::string& value);   // "0.001971 mm2" of "0.00197145580677 mm2"
std::string bandwidth_text(double bits_per_cycle);  // "2048 bit/cycle"

}  // namespace monet
