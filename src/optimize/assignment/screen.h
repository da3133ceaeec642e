// What a move is worth, guessed on a few operators around those that it changes, evaluated as a step of their own: much
// faster than the whole step, and blind to what is further away.
#pragma once

#include "optimize/assignment/moves.h"
#include "optimize/pricing/pricer.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace monet::assigning {

class Screen {
 public:
  // All must outlive it.
  Screen(const Graph& graph, Evaluator& evaluator, SearchObjective objective);

  // How much smaller the objective gets by the move, for all that it changes together; below zero: larger. Not
  // possible: minus infinity. Moves of order are not judged: zero.
  double gain(const Moves& moves, const State& state, const AssignmentMove& move);

  // The operators around one, in the order of the graph.
  std::vector<NodeId> around(NodeId node) const;

 private:
  struct Window {
    std::vector<NodeId> nodes;  // of the step
    std::vector<NodeId> now;    // the same, in the graph of the window
    std::unique_ptr<const Graph> graph;
    std::unique_ptr<Evaluator> evaluator;
    std::map<std::string, double> known;  // by what is done there
  };

  Window& window_of(NodeId node);
  double price(Window& window, const State& state);

  const Graph& graph_;
  Evaluator& evaluator_;
  SearchObjective objective_;
  const Readers readers_of_;
  std::vector<std::vector<NodeId>> readers_;  // by node
  std::map<NodeId, Window> windows_;
};

}  // namespace monet::assigning
