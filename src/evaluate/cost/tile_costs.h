// Costs of tiles, by content: an operator's nests cut down to a tile, on a kind of core, with some paths streaming.
// Requests are collected, then all that are new are searched for at once, on all processors.
#pragma once

#include "evaluate/cost/operator_bound.h"
#include "evaluate/cost/tile_cost.h"
#include "evaluate/machine/machine.h"
#include "evaluate/plan/plan.h"
#include "graph/graph.h"
#include "mapping/cache.h"
#include "mapping/extract.h"
#include "mapping/search.h"

#include <monet/expected.h>

#include <array>
#include <functional>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

namespace monet {

constexpr std::uint8_t path_bit(Path path) { return static_cast<std::uint8_t>(1U << static_cast<unsigned>(path)); }

struct CostOptions {
  SearchOptions search;
  ExtractOptions extract;
  MappingStore* store = nullptr;  // mappings kept from run to run
  bool zigzag = false;            // by the rules of ZigZag and Stream, their defects included
};

// What is known of a tile before it is mapped.
struct TileEstimate {
  double cycles = 0;                      // if nothing ever waits
  std::array<double, path_count> bits{};  // that it reads and writes, by path
};

class TileCosts {
 public:
  TileCosts(const Graph& graph, const Machine& machine, MappingCache& cache, const CostOptions& options);

  // Path of an input or output of a node on the way to a core.
  Path path_of(NodeId node, std::size_t input) const;
  // Nodes of one class cost the same everywhere.
  std::uint32_t class_of(NodeId node) const { return class_of_[node.index()]; }
  // Whether cores of a kind can run the operator; if not, why.
  const std::string* refusal(NodeId node, std::size_t kind) const;
  // The operator cut down to `extents`: without a search.
  const TileEstimate& estimate(NodeId node, std::size_t kind, std::span<const LoopSize> extents);
  // Names one cost; it may have to be solved for. `pieces` of the operator may run at the same time, which counts by
  // ZigZag's rules alone.
  std::uint32_t request(NodeId node, std::size_t kind, std::uint8_t streamed, bool adds,
                        std::span<const LoopSize> extents, std::size_t pieces = 1);
  // Searches for what was requested and is not known yet. The same result for any number of threads.
  void solve(std::size_t jobs, const std::function<void(std::size_t done, std::size_t all)>& progress = nullptr);
  // Whether the tile can be mapped; where not, the cost says nothing.
  bool is_possible(std::uint32_t cost) const { return failures_[cost].empty(); }
  Error failure(NodeId node, std::uint32_t cost) const;
  const TileCost& operator[](std::uint32_t cost) const { return costs_[cost]; }
  OperatorBound bound(NodeId node);
  std::size_t solved() const { return solved_; }
  // Where a unit works in another precision than the operator's; what is free by ZigZag's rules.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  // Nodes with equal nests are one class.
  struct NodeClass {
    NodeId first;
    std::vector<Problem> problems;
    std::vector<Path> input_paths;
    std::vector<std::string> refusals;  // by kind of core; empty: it can
    std::unordered_map<std::string, TileEstimate> estimates;
  };
  struct Request {
    std::uint32_t node_class = 0;
    std::uint32_t kind = 0;
    std::uint8_t streamed = 0;
    bool adds = false;
    std::uint32_t pieces = 1;
    std::vector<LoopSize> extents;
  };
  // A unit of a kind of core with the levels that are left when some paths do not stream.
  struct Place {
    std::size_t unit = 0;
    Target target;
    std::string key;
    std::vector<std::uint8_t> level;  // of the core, by memory of the target; levels.size(): home
  };
  struct Solution {
    TileCost cost;
    std::string failure;
    std::vector<std::string> notes;
    std::vector<std::pair<std::string, Mapping>> found;  // by digest
  };

  const std::vector<Place>& places(std::uint32_t kind, std::uint8_t streamed);
  std::string refusal_of(const NodeClass& of, Op op, std::size_t kind) const;
  void note_free();
  Solution solve(const Request& request, const std::vector<Place>& places) const;
  Expected<MappedProblem> search(const Problem& problem, const Target& target, const std::string& key) const;
  void add_nest(Solution& solution, const Problem& problem, const Request& request,
                const std::vector<Place>& places) const;

  const Graph* graph_;
  const Machine* machine_;
  MappingCache* cache_;
  CostOptions options_;
  std::vector<std::uint32_t> class_of_;  // by node
  std::vector<NodeClass> classes_;
  std::vector<std::vector<Place>> places_;  // by kind and set of streamed paths
  std::unordered_map<std::string, std::uint32_t> request_of_;
  std::vector<Request> requests_;
  std::vector<TileCost> costs_;
  std::vector<std::string> failures_;  // by cost; empty: none
  std::size_t solved_ = 0;
  std::vector<std::string> notes_;
};

}  // namespace monet
