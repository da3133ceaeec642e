// Invariants of our own: a violated one is a defect, never the user's fault, and stops the program with its values.
#pragma once

#include <string_view>

namespace monet {

[[noreturn]] void fail_invariant(std::string_view condition, std::string_view file, int line);

}  // namespace monet

#define MONET_REQUIRE(condition) ((condition) ? void() : ::monet::fail_invariant(#condition, __FILE__, __LINE__))
