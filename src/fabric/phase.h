// A collective on one level of a fabric, among units of the level below.
#pragma once

#include "fabric/price.h"

#include <array>
#include <optional>

namespace monet {

// What a group is on one level.
struct LevelGroup {
  const FabricLevel* level = nullptr;
  std::size_t dimensions = 1;
  std::array<GroupSpan, max_torus_dimensions> spans{};
  std::array<std::int64_t, max_torus_dimensions> positions{};  // that the dimension has

  std::int64_t members() const {
    std::int64_t product = 1;
    for (std::size_t d = 0; d < dimensions; ++d) product *= spans[d].count;
    return product;
  }
};

// All levels, innermost first.
struct LevelGroups {
  std::array<LevelGroup, max_fabric_levels> levels{};
  std::size_t count = 0;

  LevelGroups(const Fabric& fabric, const GroupShape& group);
};

struct Phase {
  double seconds = 0;  // without the start
  double bytes = 0;    // that leave a chip here (or enter, where that is more), the mean over the group
};

// A chip's width here, in bytes a second, for a collective over that many bytes.
double width_of(const FabricLevel& level, double bytes, bool in_switch);
// The most of any size and algorithm.
double largest_width(const FabricLevel& level);

// One link of a level that is no ring or torus: the port of a chip, or what leads to one other unit. Bytes a second.
double link_width(const LevelGroup& group, double bytes);

// A message between neighbours of the group along its outermost dimension here: the slowest such pair, and its bytes
// times the links that they cross.
Phase neighbour_message(const LevelGroup& group, double bytes);

// None: the level, its library or the number of members does not allow it.
// Requires: at least two members; no send.
std::optional<Phase> phase(const LevelGroup& group, CollectiveKind kind, double bytes, CollectiveAlgorithm algorithm);
// The fastest, and by which.
struct BestPhase {
  Phase phase;
  CollectiveAlgorithm algorithm = CollectiveAlgorithm::direct;
  bool found = false;
};
BestPhase best_phase(const LevelGroup& group, CollectiveKind kind, double bytes);

}  // namespace monet
