// What is wrong with the arguments, said so that the reader can put it right.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace monet::cli {

// With the nearest right word where one is near. `arguments` without the program's name.
std::string explain(const CLI::App& app, const CLI::ParseError& error, const std::vector<std::string>& arguments);

}  // namespace monet::cli
