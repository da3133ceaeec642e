// NumPy's .npy files of float64 in C order: what the comparison tests exchange.
#pragma once

#include "interpret/interpret.h"

#include <monet/expected.h>

#include <string>

namespace monet::tools {

Expected<Array> load_npy(const std::string& path);
void save_npy(const std::string& path, const Array& array);

}  // namespace monet::tools
