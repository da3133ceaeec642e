// The search for what one tile costs.
#pragma once

#include "compat/zigzag/stream_layer.h"
#include "evaluate/cost/tile_cost.h"
#include "evaluate/machine/machine.h"
#include "mapping/cache.h"
#include "mapping/extract.h"
#include "mapping/search.h"

#include <monet/evaluate.h>
#include <monet/plan.h>

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace monet {

constexpr std::uint8_t path_bit(Path path) { return static_cast<std::uint8_t>(1U << static_cast<unsigned>(path)); }
constexpr std::uint8_t path_sets = 1U << path_count;

struct CostOptions {
  SearchOptions search;
  ExtractOptions extract;
  MappingStore* store = nullptr;  // mappings kept from run to run
  bool zigzag = false;            // by the rules of ZigZag and Stream, their defects included
  CustomCosts custom;             // of operators whose cost the user gives; may be empty
};

struct TileRequest {
  std::uint32_t node_class = 0;
  std::uint32_t kind = 0;            // of core
  std::uint8_t streamed = 0;         // a bit for each path
  bool adds = false;                 // to what another tile has left
  std::uint32_t pieces = 1;          // of the operator that may run at the same time, and share home's bandwidth
  std::vector<Loop> extents;         // of loops that are cut
  std::optional<CustomCost> custom;  // the user has said what it costs
};

struct TileSolution {
  TileCost cost;
  std::string failure;  // why it cannot be mapped; empty: it can
  std::string advice;   // what would help, beside another core
  std::vector<std::string> notes;
  std::vector<std::pair<std::string, Mapping>> found;  // new mappings to keep, by digest
};

// A unit of a kind of core with the levels that are left when some paths do not stream.
struct UnitPlace {
  std::size_t unit = 0;
  Target target;
  std::string key;                  // common_key_of(target)
  std::vector<std::uint8_t> level;  // of the core, by memory of the target; levels.size(): home
};

std::vector<UnitPlace> unit_places(const RoutedMachine& machine, std::size_t kind, std::uint8_t streamed,
                                   const SearchOptions& options);

class TileSolver {
 public:
  // All must outlive it. Several threads may use it at once.
  TileSolver(const RoutedMachine& machine, MappingCache& cache, const CostOptions& options)
      : machine_(machine), cache_(cache), options_(options) {}

  TileSolution solve(const TileRequest& request, std::span<const Problem> problems,
                     const std::vector<UnitPlace>& places) const;
  // A tile whose cost the user has given. What streams moves once, while it runs: it takes longer where that does.
  TileSolution solve_custom(const TileRequest& request, std::span<const Problem> problems) const;
  // A custom operator without a cost: free by the rules of ZigZag and Stream, else impossible.
  TileSolution solve_unknown(const TileRequest& request) const;
  // By the rules of ZigZag and Stream; no layer: it is free.
  TileSolution solve_zigzag(const TileRequest& request, const std::optional<ZigzagLayer>& layer,
                            const UnitPlace& place) const;

 private:
  // What one nest adds.
  struct BestUnit;
  TileSolution empty_solution(const TileRequest& request) const;
  void add_nest(TileSolution& solution, const Problem& problem, const TileRequest& request,
                const std::vector<UnitPlace>& places) const;
  void add_rate(TileSolution& solution, const Problem& problem, const TileRequest& request) const;
  BestUnit best_unit(TileSolution& solution, const Problem& problem, const TileRequest& request,
                     const std::vector<UnitPlace>& places) const;
  void add_traffic(TileCost& total, const BestUnit& best, const TileRequest& request) const;
  // The mapping that is best where `pieces` share the bandwidth of home memory, at its cost for one that has it alone.
  Expected<MappedProblem> search(const Problem& problem, const Target& target, const std::string& key,
                                 const TileRequest& request) const;

  const RoutedMachine& machine_;
  MappingCache& cache_;
  const CostOptions& options_;
};

}  // namespace monet
