// A network as it was opened: the graph and what the user should know about how it was read.
#pragma once

#include "graph/graph.h"

#include <string>
#include <vector>

namespace monet {

struct NetworkGraph {
  Graph graph;
  bool is_training_step = false;      // has a backward part already
  std::vector<std::string> warnings;  // something may not be what the user thinks
  std::vector<std::string> notes;     // what was assumed: dimensions bound to 1, tensors not counted as parameters
};

}  // namespace monet
