// Costs of tiles, by content: an operator's nests cut down to a tile, on a kind of core, with some paths streaming. One
// table serves many graphs on one machine. Requests are collected, then all that are new are searched for at once, on
// all processors. What it holds never changes an answer. One thread at a time.
#pragma once

#include "evaluate/cost/operator_bound.h"
#include "evaluate/cost/tile_solution.h"
#include "graph/graph.h"

#include <monet/plan.h>

#include <array>
#include <deque>
#include <functional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace monet {

// What is known of a tile before it is mapped.
struct TileEstimate {
  double cycles = 0;                      // if nothing ever waits
  std::array<double, path_count> bits{};  // that it reads and writes, by path
};

class TileCostTable {
 public:
  // Nodes with equal nests are one class: they cost the same everywhere.
  struct NodeClass {
    NodeId first;      // in the graph that it was met in: for ZigZag's rules, where a table has one graph
    std::string name;  // of that node
    Op op = Op::Identity;
    std::vector<Problem> problems;
    std::vector<Path> input_paths;
    std::vector<std::string> refusals;  // by kind of core; empty: it can
    CustomTile tile;                    // of all of it, for the user's function; without a core
    // By kind of core, where the user has given costs: no way of running it there costs less.
    std::vector<std::optional<CustomCost>> custom;
    std::unordered_map<std::string, TileEstimate> estimates;
  };

  // All must outlive it.
  TileCostTable(const RoutedMachine& machine, MappingCache& cache, const CostOptions& options);

  const CostOptions& options() const { return options_; }
  const RoutedMachine& machine() const { return machine_; }

  // The class of a node with a given content. By ZigZag's rules more than the content counts: such a table is for one
  // graph alone.
  std::uint32_t class_of(const Graph& graph, NodeId node, std::uint32_t content);
  const NodeClass& operator[](std::uint32_t node_class) const { return classes_[node_class]; }
  // An operator of the class cut down to `extents`: without a search.
  const TileEstimate& estimate(std::uint32_t node_class, std::size_t kind, std::span<const LoopSize> extents);
  OperatorBound bound(std::uint32_t node_class) const;
  // Fails with the first mistake in the user's costs, of whatever class, and where a custom operator has none.
  Status check_custom(std::uint32_t node_class) const;

  // Names one cost; it may have to be solved for.
  std::uint32_t request(const TileRequest& request, std::span<const LoopSize> extents);
  // Searches for what was requested and is not known yet. The same result for any number of threads. `graph`: the one
  // that asks.
  // `stop`, which may be empty, is asked by the thread that calls; true: fails, and nothing new is known.
  Status solve(const Graph& graph, std::size_t jobs, const std::function<void(std::size_t, std::size_t)>& progress,
               const std::function<bool()>& stop = {});
  const TileRequest& request_of(std::uint32_t cost) const { return requests_[cost]; }
  const TileSolution& solution(std::uint32_t cost) const { return solutions_[cost]; }

 private:
  std::uint32_t make_class(const Graph& graph, NodeId id);
  std::string refusal_of(NodeClass& of, std::size_t kind);
  // What the user says that a tile costs; nothing: they do not, or it has failed.
  std::optional<CustomCost> custom_cost(NodeClass& of, std::size_t kind, std::span<const LoopSize> extents);
  TileEstimate make_estimate(NodeClass& of, std::size_t kind, std::span<const LoopSize> extents);
  const std::vector<UnitPlace>& places(std::uint32_t kind, std::uint8_t streamed);
  // What the ports of a core's memories need at least for the operands of a nest.
  double moving_cycles(const Problem& problem, const Unit& unit, CoreId id) const;

  const RoutedMachine& machine_;
  MappingCache& cache_;
  CostOptions options_;
  std::vector<std::uint32_t> class_of_;  // by content
  std::unordered_map<std::string, std::uint32_t> known_classes_;
  std::deque<NodeClass> classes_;
  std::vector<std::vector<UnitPlace>> places_;  // by kind and set of streamed paths
  std::unordered_map<std::string, std::uint32_t> known_requests_;
  std::string key_;
  std::vector<TileRequest> requests_;
  std::vector<TileSolution> solutions_;  // by request, as far as they are solved
  std::optional<Error> custom_error_;
};

}  // namespace monet
