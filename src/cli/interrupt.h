// Ctrl-C during a search: what was found so far is still wanted.
#pragma once

#include <functional>

namespace monet::cli {

// From now on the first interrupt makes the function answer true; a second one ends the program as usual.
std::function<bool()> stop_on_interrupt();

}  // namespace monet::cli
