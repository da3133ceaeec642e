// Where this project lies: for files that tests and benchmarks read.
#pragma once

#include <filesystem>

namespace monet::test {

// Written by tests/source_folder.cmake, in one file, so that a compiler cache serves other clones.
std::filesystem::path source_folder();

}  // namespace monet::test
