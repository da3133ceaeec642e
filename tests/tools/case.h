// A folder with model.onnx and inputs.txt, which has a line "name<TAB>file.npy" for each value that the model needs.
#pragma once

#include "interpret/interpret.h"

#include <monet/expected.h>

#include <string>
#include <vector>

namespace monet::tools {

struct Case {
  Graph graph;
  Values values;
  std::vector<TensorId> inputs;  // one for each line of inputs.txt; not valid: folded away
};

Expected<Case> load_case(const std::string& folder);

}  // namespace monet::tools
