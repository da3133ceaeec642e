// JSON schemas of what the program prints, and of machine files.
#pragma once

#include <string>
#include <vector>

namespace monet::cli {

// "result", "explore", "machine" …, in the order of the alphabet.
std::vector<std::string> schema_names();
// Requires: one of these.
std::string schema_text(const std::string& name);

}  // namespace monet::cli
