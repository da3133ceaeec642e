#include "fabric/bound.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace monet {

namespace {

// Bytes of a chip that must leave its unit, the mean over all; `units` of `chips_each`.
double crossing(CollectiveKind kind, double bytes, double units, double chips_each, bool reduces) {
  const double others = (units - 1) / units;
  switch (kind) {
    case CollectiveKind::all_reduce: return (reduces ? 1 : 2 * others) * bytes / chips_each;
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::all_gather: return others * bytes / chips_each;
    case CollectiveKind::all_to_all: return others * bytes;
    case CollectiveKind::broadcast:
    case CollectiveKind::send: return bytes / chips_each;
  }
  return 0;
}

// Links from end to end.
double farthest(const LevelGroup& group) {
  double links = 0;
  for (std::size_t d = 0; d < group.dimensions; ++d) {
    const GroupSpan& span = group.spans[d];
    const bool closed = span.extent == group.positions[d];
    links += static_cast<double>((closed ? span.count / 2 : span.count - 1) * (span.extent / span.count));
  }
  return links;
}

// Until a message of one has reached all units; with `chips_each` each of them has as many ports.
double least_latency(const LevelGroup& group, double chips_each) {
  const double latency = group.level->latency_s;
  switch (group.level->kind) {
    case FabricKind::full: return latency;
    case FabricKind::ring:
    case FabricKind::torus: return farthest(group) * latency;
    case FabricKind::switched: break;
  }
  if (group.level->reduces) return latency;
  const auto units = static_cast<double>(group.members());
  double reached = 1, rounds = 0;
  for (; reached < units; ++rounds) reached *= 1 + chips_each;
  return rounds * latency;
}

}  // namespace

double bound_of(const LevelGroups& groups, const Collective& collective) {
  double width = 0;  // of this level and all above
  double latency = std::numeric_limits<double>::infinity();
  double start = 0, least = 0;
  double units = 1;
  auto chips = static_cast<double>(1);
  for (std::size_t l = 0; l < groups.count; ++l) chips *= static_cast<double>(groups.levels[l].members());
  bool reduces = false;
  for (std::size_t l = groups.count; l-- > 0;) {
    const LevelGroup& group = groups.levels[l];
    const std::int64_t members = group.members();
    if (members < 2) continue;
    units *= static_cast<double>(members);
    const double chips_each = chips / units;
    const bool outermost = width == 0;
    width += largest_width(*group.level);
    latency = std::min(latency, group.level->latency_s);
    start = std::max(start, group.level->start_s);
    reduces = reduces || group.level->reduces;
    if (collective.kind == CollectiveKind::send) {
      if (outermost) return start + group.level->latency_s + collective.bytes / width;
      continue;
    }
    const double bytes = crossing(collective.kind, collective.bytes, units, chips_each, reduces);
    least = std::max({least, latency + bytes / width, least_latency(group, chips_each)});
  }
  return start + least;
}

}  // namespace monet
