// What a user may say about a layer's mapping, and how ZigZag's search is to run.
#pragma once

#include "graph/nests.h"
#include "mapping/mapping.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace monet {

struct ZigzagUnroll {
  Dim loop = Dim::K;
  std::int64_t size = 1;
};

// One line of a temporal ordering: no loop, or no size, is "*".
struct ZigzagOrdered {
  std::optional<Dim> loop;
  std::optional<std::int64_t> size;
};

struct ZigzagMapping {
  // By name of the array's dimension, in the order of the file. Dimensions that are not there are left to the search.
  std::vector<std::pair<std::string, std::vector<ZigzagUnroll>>> spatial;
  std::vector<std::pair<std::string, std::vector<Dim>>> hints;
  std::vector<ZigzagOrdered> temporal;  // innermost first
  Path input_path = Path::input;        // of layer operand I, …
  Path weight_path = Path::weight;
  Path output_path = Path::output;
};

struct ZigzagOptions {
  Objective objective = Objective::latency;
  // Temporal factors that are put in every order; primes are merged until there are no more. 0: none is merged.
  std::int64_t factors = 6;
  std::int64_t spatial_candidates = 3;  // where the mapping leaves dimensions open
  // Not 0: the choice that Stream makes, for so many cores that work at the same time. The latency counts as many times
  // as the highest memory would have to be as wide as it is; of equals the first is taken. Overrides the objective.
  std::int64_t parallel_cores = 0;
  // ZigZag spreads spare cycles over the loads of a port so that a load may get shorter than the shortest it can be,
  // or negative. False: no load is made shorter than that.
  bool negative_onloading = true;
  // Skips what cannot be best: the same answer, sooner.
  bool prune = true;
};

// Orders that one search tries at most; more is an error.
constexpr double zigzag_max_orders = 1e8;

}  // namespace monet
