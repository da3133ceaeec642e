// Names by pattern, as a shell matches files: * any characters, ? one.
#pragma once

#include <string_view>

namespace monet {

// Cost: linear for a pattern with one *, |pattern| · |text| at worst.
bool matches(std::string_view pattern, std::string_view text);

}  // namespace monet
