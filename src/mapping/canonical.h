// Targets that the search cannot tell apart: what it looks at of a target depends on the problem.
#pragma once

#include "mapping/search.h"

#include <string>

namespace monet {

// The key of a target without what same_answer() may change: the sizes of its memories, and where only cycles decide
// its static power and its clock.
std::string common_key_of(const Target& target, const SearchOptions& options);

// Size of each memory of the target, in bits, as far as the search for this problem can tell: a memory that has room
// for more than the problem could ever put there counts as one that has just enough for it.
std::vector<std::int64_t> useful_bits(const Problem& problem, const Target& target, const SearchOptions& options);

// The key of a problem on a target: equal for two targets if map_problem() gives the same for both, but for static
// energy. `common`: of the target.
std::string canonical_key(const Problem& problem, const std::string& common, std::span<const std::int64_t> useful);

// The target that stands for all with that key. Without static power where only cycles decide: its energy takes part
// between mappings that take equally long, and there it is the same.
Target canonical_target(const Target& target, const SearchOptions& options, std::span<const std::int64_t> useful);

// Energy with the static power of `target`, of what was mapped on a target that stands for it.
double energy_on(const Target& target, const SearchOptions& options, const MappingCost& cost);

}  // namespace monet
