// Number formats of a result, in its headline.
#pragma once

#include <string>

namespace monet {

// "int8-everywhere, the machine's own; nothing trains so". `from`: file, machine or option.
std::string numbers_text(const std::string& recipe, const std::string& from);

}  // namespace monet
