// Which loops run side by side on the lanes of a unit.
#pragma once

#include "mapping/mapping.h"

#include <vector>

namespace monet {

struct SpatialOptions {
  std::size_t mixed = 2;  // loops that may share a dimension
  // Given for some dimensions: (dimension, loop, size). Those dimensions are not searched.
  std::vector<SpatialLoop> fixed;
};

// The unrolling that a mapping uses: lanes at work on average, and iterations left for time, by loop.
struct Unrolling {
  std::vector<SpatialLoop> spatial;
  std::vector<std::int64_t> iterations;  // of each loop of the problem
  double compute_points = 0;             // product of the iterations
};

// Loops of the problem that each dimension of the unit may take: bit i of entry d is loop i on dimension d.
//
// What a dimension states is meant for products, by what a loop does in a convolution: C, FX and FY add up, K runs over
// the columns of the weights, B, OX, OY … over the rows of the inputs. A loop that does in this problem what its name
// says must be named; one that does something else (in a weight gradient B, OY and OX add up) goes where loops that do
// the same are named. Other operations may be unrolled anywhere.
std::vector<std::uint32_t> allowed_loops(const Problem& problem, const Unit& unit);

// Lanes of the unit that the problem can use at most: a dimension takes no more than all iterations of the loops that
// it may take. Holds for every tile of the problem too.
double usable_lanes(const Problem& problem, const Unit& unit);

// Iterations and averages for given sizes. A size larger than what is left of its loop is cut to it.
Unrolling unrolling_of(const Problem& problem, std::vector<SpatialLoop> spatial);

// All maximal choices, each once: every dimension takes up to `mixed` of the loops it allows, each as far as it goes,
// so that nothing more fits. Where that is more than can be looked at, fewer may share a dimension. Sorted by the
// iterations left, then by position; at least one (nothing unrolled). No choice needs more of a memory than it has.
std::vector<Unrolling> spatial_choices(const Problem& problem, const Target& target, const SpatialOptions& options);

}  // namespace monet
