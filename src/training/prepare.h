// A forward network as it runs during training.
#pragma once

#include "graph/graph.h"

#include <string>
#include <vector>

namespace monet::training {

// Batch norms use the statistics of the batch and update the running ones, whatever mode the exporter wrote: common
// exporters leave the mode out. What replaces X is named X.new. `notes` receives what was changed.
Graph in_training_mode(Graph graph, std::vector<std::string>& notes);

}  // namespace monet::training
