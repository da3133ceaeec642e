// The version of the library.
#pragma once

#include <string_view>

namespace monet {

inline constexpr std::string_view version = "0.1.0";

}  // namespace monet
