// Graphs and devices from files: the three public formats.
#pragma once

#include "remat/problem.h"

#include <monet/expected.h>

#include <string>
#include <string_view>
#include <vector>

namespace monet::remat {

// A device of POET's profiles: what an operation and a transfer cost.
struct Device {
  std::string name;
  double flop_per_s = 0, flop_per_j = 0;
  double element_bytes = 0;
  Channel channel;
};

struct GraphFile {
  Problem problem;
  std::vector<std::string> notes;
};

// Checkmate's graphs (nodes with cost_cpu and cost_ram), Moccasin's (duration and out_cost, in graph.order), POET's
// networks (flop, out_elems and deps). The last need a device, the others take none. `file` is for messages.
// A node may say "recompute": false.
Expected<GraphFile> read_graph(std::string_view text, const std::string& file, const Device* device);

// The device called `name`: by its key, or the part before the parenthesis, or the part within; case and punctuation
// do not matter.
Expected<Device> read_device(std::string_view text, const std::string& file, const std::string& name);

}  // namespace monet::remat
