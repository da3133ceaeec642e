// How a step is carried out, with nothing left open: what a search over plans changes.
#pragma once

#include "evaluate/evaluate.h"

#include <cstdint>
#include <vector>

namespace monet::assigning {

constexpr std::uint32_t no_stack = 0xffffffffU;

// In which order tiles that could run do, where the order of the plan is the critical path.
enum class Sequence : std::uint8_t {
  longest,  // that with the longest way to the end
  graph,    // as the graph has them
  latest,   // that which became possible last
};

// Before or after what is not singled out.
enum class Turn : std::uint8_t { late, usual, early };

struct State {
  PlanOrder order = PlanOrder::critical_path;
  PlanTransfers transfers = PlanTransfers::direct;
  Sequence sequence = Sequence::longest;
  std::vector<Turn> turns;                    // by node
  std::vector<OperatorAssignment> operators;  // by node; the stack is a number that its members have in common
  std::uint32_t stacks = 0;                   // numbers that may be in use
  bool operator==(const State&) const = default;
};

// What was carried out.
State state_of(const Assignment& assignment);

// The same for an evaluator. `paged`: by tensor, may be empty.
PlanRequest request_of(const State& state, const Graph& graph, const Dependencies& dependencies,
                       const std::vector<MemoryId>& paged);

}  // namespace monet::assigning
