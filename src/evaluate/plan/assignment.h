// A plan made complete, by ids: what the tiles and the schedule are made from. `bind` checks and translates what a plan
// says; evaluate/policy fills in the rest.
#pragma once

#include "graph/graph.h"
#include "hardware/hardware.h"

#include <monet/plan.h>

#include <cstdint>
#include <string>
#include <vector>

namespace monet {

// One loop of an operator, cut: first into pieces that go to different cores, then each piece into tiles.
struct LoopCut {
  Dim loop = Dim::K;
  std::int64_t pieces = 1;  // of nearly equal size: the first ones are larger by one where it does not divide
  std::int64_t tile = 0;    // iterations of a tile; the last of a piece may be smaller; 0: the piece is one tile
  bool operator==(const LoopCut&) const = default;
};

struct OperatorAssignment {
  std::vector<LoopCut> cuts;  // loops that are cut, each once
  std::vector<CoreId> cores;  // one for each piece (the first cut's pieces outermost); empty: a view
  std::uint32_t stack = 0;
  double priority = 0;  // stated by the plan; larger first
  bool operator==(const OperatorAssignment&) const = default;
};

struct Assignment {
  std::vector<OperatorAssignment> operators;  // by node
  std::vector<std::vector<NodeId>> stacks;    // in an order in which they can run; nodes in the order of the graph
  // By tensor: where it is between forward and backward, or between steps and parts of the step; not valid: not paged.
  std::vector<MemoryId> paged;
  PlanOrder order = PlanOrder::critical_path;
  PlanTransfers transfers = PlanTransfers::direct;
  std::vector<std::string> filled;  // what the policy decided, in words
};

}  // namespace monet
