// Unrolling over the array, and what follows from it: which loops each memory level serves, and how many instances of
// it hold what.
#pragma once

#include "compat/zigzag/layer.h"
#include "compat/zigzag/machine.h"
#include "compat/zigzag/options.h"

#include <monet/expected.h>

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace monet::zigzag {

struct Unrolled {
  std::uint8_t loop = 0;
  double size = 1;
};

// Loops unrolled along dimensions of the array, in the order in which they were given.
using ArrayMapping = std::vector<std::pair<std::uint8_t, std::vector<Unrolled>>>;

// Operand of the layer that takes each path, and the path of each operand.
struct Links {
  std::array<std::uint8_t, path_count> operand{};
  std::array<Path, zigzag_operands> path{};
};
Expected<Links> links_of(const ZigzagLayer& layer, const ZigzagMapping& mapping);

// The unrollings to try: the user's, cut to what array, layer, bandwidth and capacity allow; or, where it leaves
// dimensions open, the most promising ways to fill them.
Expected<std::vector<ArrayMapping>> array_mappings(const ZigzagLayer& layer, const Machine& machine, const Links& links,
                                                   const ZigzagMapping& mapping, const ZigzagOptions& options);

// Entry 0: loops that the lowest memory serves; i: those that level i serves beyond the levels below; the last: the
// rest.
using LevelLoops = std::vector<std::vector<Unrolled>>;

struct OperandUnrolling {
  LevelLoops loops;
  std::vector<double> units;   // instances from entry i up
  std::vector<double> boosts;  // distinct instances below that one instance of level i feeds
};

// `average` has the lanes that work on average: 31.25 of 32 where 32 of 1000 are unrolled; `whole` its whole part.
// ZigZag takes energy and fill from the first, time from the second.
struct Unrolling {
  std::array<OperandUnrolling, zigzag_operands> average;
  std::array<OperandUnrolling, zigzag_operands> whole;
  ArrayMapping lanes;  // on average
};

Expected<Unrolling> unroll(const ZigzagLayer& layer, const Machine& machine, const Links& links,
                           const ArrayMapping& mapping);

}  // namespace monet::zigzag
