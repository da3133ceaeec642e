// Plans for a page: JSON of optimize and checkpoint, with the plans themselves.
#pragma once

#include "present/compare/result_file.h"

#include <monet/checkpoint.h>
#include <monet/optimize.h>

#include <string>

namespace monet {

// As JSON. The plans that a file names are looked for beside it; those that are absent or very large are left out.
Expected<std::string> plans_of_file(const ResultFile& file);
std::string plans_of(const Optimization& optimization);
std::string plans_of(const Checkpointing& checkpointing);

}  // namespace monet
