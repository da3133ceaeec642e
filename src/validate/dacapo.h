// The tables that DaCapo's authors made with their simulator (casys-kaist/DaCapo). They are not part of the project.
#pragma once

#include "validate/products.h"

#include <monet/expected.h>

#include <cstdint>
#include <string>
#include <vector>

namespace monet {

struct DaCapoTime {
  std::string network;
  std::string phase;  // "train", "infer"
  std::int64_t batch = 0;
  std::string precision;  // "mx9"
  std::int64_t rows = 0;  // of the array
  double seconds = 0;     // of a step
  std::vector<Product> products;

  bool trains() const { return phase == "train"; }
};

// The folder with both tables: `data`, then where MONET_SHARED says or else a folder `shared` beside the project, each
// with or without reference/hardware. Fails, naming the two files, when there is none. `own`: the project's data/.
Expected<std::string> dacapo_tables_folder(const std::string& data, const std::string& own);

// Both tables, each time with the products of its network. Fails, naming the line, where one cannot be understood.
Expected<std::vector<DaCapoTime>> read_dacapo_tables(const std::string& folder);

}  // namespace monet
