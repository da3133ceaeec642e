// The keys of hardware files for editors.
#pragma once

#include <string>

namespace monet {

// A JSON schema (draft 2020-12), written from the tables by which files are read.
std::string hardware_schema();

}  // namespace monet
