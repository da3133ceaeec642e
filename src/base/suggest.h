// "Did you mean …?"
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace monet {

// The candidate nearest to `word` if it is near enough to be a slip of the finger; else empty.
std::string nearest(std::string_view word, std::span<const std::string> candidates);

}  // namespace monet
