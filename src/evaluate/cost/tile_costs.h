// Costs of the tiles of one graph: what a table of costs says of its operators.
#pragma once

#include "evaluate/classes/operator_classes.h"
#include "evaluate/cost/tile_cost_table.h"

#include <monet/expected.h>

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace monet {

class TileCosts {
 public:
  // All must outlive it.
  TileCosts(const Graph& graph, const OperatorClasses& classes, TileCostTable& table);

  // Path of an input of a node on the way to a core.
  Path path_of(NodeId node, std::size_t input) const { return paths_[node.index()][input]; }
  // Whether cores of a kind can run the operator; if not, why.
  const std::string* refusal(NodeId node, std::size_t kind) const;
  // The operator cut down to `extents`: without a search.
  const TileEstimate& estimate(NodeId node, std::size_t kind, std::span<const LoopSize> extents) {
    return table_->estimate(class_of_[node.index()], kind, extents);
  }
  // Names one cost; it may have to be solved for. `pieces` of the operator may run at the same time.
  std::uint32_t request(NodeId node, std::size_t kind, std::uint8_t streamed, bool adds,
                        std::span<const LoopSize> extents, std::size_t pieces = 1);
  // Searches for what was requested and is not known yet. The same result for any number of threads.
  // Fails when `stop`, which may be empty, says so, and on mistakes in the user's costs.
  Status solve(std::size_t jobs, const std::function<void(std::size_t done, std::size_t all)>& progress = nullptr,
               const std::function<bool()>& stop = {});
  // Fails on a mistake in the user's costs so far, and where a custom operator has none.
  Status check_custom() const;
  // Whether the tile can be mapped; where not, the cost says nothing.
  bool is_possible(std::uint32_t cost) const { return table_->solution(cost).failure.empty(); }
  Error failure(NodeId node, std::uint32_t cost) const;
  const TileCost& operator[](std::uint32_t cost) const { return table_->solution(cost).cost; }
  OperatorBound bound(NodeId node) const { return table_->bound(class_of_[node.index()]); }
  // Where a unit works in another precision than the operator's, in what was requested here; what is free by ZigZag's
  // rules.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  void note_free();

  const Graph* graph_;
  TileCostTable* table_;
  std::vector<std::uint32_t> class_of_;  // by node
  std::vector<const Path*> paths_;       // by node
  std::vector<bool> requested_;          // by cost
  std::vector<std::uint32_t> open_;      // requested since the last solve(), for the first time
  std::vector<std::string> notes_;
};

}  // namespace monet
