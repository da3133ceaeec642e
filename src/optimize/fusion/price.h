// What a set costs by itself: evaluated as a stack, with the tile sizes that suit it best.
#pragma once

#include "evaluate/evaluate.h"
#include "optimize/fusion/candidates.h"

#include <functional>
#include <string>
#include <vector>

namespace monet::fusion {

enum class Objective : std::uint8_t { sets, traffic, latency, energy, edp };

struct Cost {
  double cycles = 0;
  double energy_pj = 0;
};
// What is made small: cycles, energy, or their product. Sets and traffic are not of this kind: cycles.
double value_of(const Cost& cost, Objective objective);

// Tiles of the operators of a set, in its order; no list: it is not cut.
using Tiles = std::vector<std::vector<LoopSize>>;

struct PricedTiles {
  Tiles tiles;
  Cost cost;
  std::size_t count = 0;  // of tiles
};

struct Price {
  // The best first, where those that are nearly as good as the best come in the order of their number of tiles. Empty:
  // it cannot run so.
  std::vector<PricedTiles> ways;
  std::string failure;  // why it cannot, when it is cut into no tiles
};

struct PriceOptions {
  Objective objective = Objective::latency;
  EvaluatorOptions evaluator;  // jobs: of the sets, each evaluated by one
  std::size_t loops = 2;       // that are tried first, those of most operators
  std::int64_t most_parts = 256;
  std::size_t ways = 4;        // that are kept
  bool tiles = true;           // else nothing is cut
  std::function<bool()> stop;  // asked between sets: what is left has no price
  std::function<void(std::size_t done, std::size_t all)> progress;
};

struct Prices {
  std::vector<std::uint32_t> class_of;  // by set: sets of equal content are one
  std::vector<Price> prices;            // by class
  std::size_t evaluated = 0;
  const Price& of(std::uint32_t set) const { return prices[class_of[set]]; }
};

// The nodes of a set in the order of the graph: its operators, and what is passed over and lies between two of them.
std::vector<NodeId> nodes_of(const Graph& graph, const Problem& problem, std::span<const Index> set);

// The same result for any number of threads.
Prices price_sets(const Graph& graph, const Hardware& hardware, MappingCache& cache, const Problem& problem,
                  const Lists<Index>& sets, const PriceOptions& options);

}  // namespace monet::fusion
