// What the tables of the searches share.
#pragma once

#include <monet/error.h>

#include <string>
#include <vector>

namespace monet {

// "12.3 ms"; where there is no clock, in cycles.
std::string time_text(double cycles, double clock_hz);
// "+3.20%"
std::string change_text(double now, double before);
// The first few of them.
std::string names_text(const std::vector<std::string>& names);
// No plan within the limits, because a function of the user's gives infinity for all of them.
Error all_forbidden();

}  // namespace monet
