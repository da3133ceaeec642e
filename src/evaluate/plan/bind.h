// From names to ids: what a plan says about the operators of one graph on one machine, checked. What it leaves out
// stays open, for evaluate/policy to fill in.
//
// Plans are carried out in two steps, because recomputing changes the graph: bind_tensors() on the step as it is, then
// training::recompute(), then bind() on the result, whose copies (X~1) stacks and operators may name.
#pragma once

#include "evaluate/classes/operator_classes.h"
#include "evaluate/plan/assignment.h"
#include "evaluate/plan/dependencies.h"

#include <monet/expected.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace monet {

constexpr std::int64_t max_pieces = 1 << 14;  // of one operator

struct BoundOperator {
  // Loops that the plan speaks of: those that it splits first, in its order. Where `tile` is 0 it says nothing of
  // tiles, where `pieces` is 1 and split is not stated nothing of pieces.
  std::vector<LoopCut> cuts;
  bool tile_stated = false;
  bool split_stated = false;
  // With a stated split one for each piece; else those that it may be split over, all able to run it. Empty: not
  // stated.
  std::vector<CoreId> cores;
  std::optional<double> priority;
  std::optional<std::uint32_t> stack;  // in BoundPlan::stacks
};

struct BoundStack {
  std::string name;
  std::vector<NodeId> nodes;  // in the order of the graph; no views
};

struct BoundPlan {
  std::vector<BoundOperator> operators;  // by node; nothing is stated of a view
  std::vector<BoundStack> stacks;        // as the plan lists them, without those of views alone
  PlanOrder order = PlanOrder::critical_path;
  PlanTransfers transfers = PlanTransfers::direct;
};

// Loops of all nests of an operator, in order, and operations at each point by nest; none: a view.
struct OperatorLoops {
  std::vector<Loop> loops;
  std::vector<Counts> counts;
};

// Of operators by content, for many graphs. One thread at a time.
using LoopTable = ByOperatorClass<OperatorLoops>;

// What a graph and a machine have. Made once for many plans; safe to read from several threads. Keeps references to
// both.
class Binder {
 public:
  Binder(const Graph& graph, const Hardware& hardware);
  // With what is known of operators already; new ones are added. The table must outlive it.
  Binder(const Graph& graph, const Hardware& hardware, const OperatorClasses& classes, LoopTable& table);

  // Fails where the plan cannot be carried out, and says why: an operator or core that does not exist, a core that
  // cannot run what it is given, a loop that an operator does not have, a tile or split larger than its loop, cores
  // without a piece, an operator in two stacks, stacks that wait for each other. A pattern need not suit all that it
  // matches: loops that an operator lacks are passed over and sizes cut down to what it has, as long as one has all.
  // Whether an operator can be cut along a loop at all is evaluate/tiles' question.
  Expected<BoundPlan> bind(const Plan& plan) const;

  const Dependencies& dependencies() const { return dependencies_; }
  // Loops of all its nests, in order; none: a view.
  const std::vector<Loop>& loops(NodeId node) const { return loops_[node.index()]->loops; }
  // Why the core cannot run the node; empty: it can.
  std::string why_not(CoreId core, NodeId node) const;

 private:
  friend class PlanBinding;

  const Graph& graph_;
  const Hardware& hardware_;
  Dependencies dependencies_;
  std::unique_ptr<LoopTable> own_;           // for this graph alone
  std::vector<const OperatorLoops*> loops_;  // by node
};

Expected<BoundPlan> bind(const Plan& plan, const Graph& graph, const Hardware& hardware);

}  // namespace monet
