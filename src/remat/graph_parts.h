// Nodes and links as a file has them, put together into a problem.
#pragma once

#include "remat/reader.h"

#include <string>
#include <vector>

namespace monet::remat {

struct GraphParts {
  struct Part {
    std::string id;
    std::string place;  // in the file
    Node node;
  };
  struct Link {
    std::string from, to;  // ids: the second reads the first
    std::string place;
  };

  std::vector<Part> nodes;
  std::vector<Link> links;
  std::vector<std::string> order;  // ids; empty: none is given
  std::string order_place;
};

constexpr std::size_t most_nodes = 20'000, most_links = 1'000'000;

// The order is the given one; else that of the ids, if they are numbers; else that of the file; else, with a note, a
// topological one. `problem` has everything but nodes and links. Fails for ids that are unknown or there twice, for
// cycles, for an order that is none, and for more bytes together than 2^53.
Expected<GraphFile> assemble(GraphParts parts, Problem problem, const std::string& file);

}  // namespace monet::remat
