// The parameters of a design, as stores and reports write them.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace monet::explore {

// An object in the order of the parameters; what is a plain number is one, what has a unit is a text.
std::string parameters_json(const std::vector<std::pair<std::string, std::string>>& parameters);

}  // namespace monet::explore
