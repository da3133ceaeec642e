#include "fabric/phase.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace monet {

namespace {

using Kind = CollectiveKind;
using Algorithm = CollectiveAlgorithm;

constexpr double most_pieces = 65536;

double share_at(const std::vector<WidthShare>& table, double bytes) {
  if (table.empty()) return 1;
  if (bytes <= table.front().bytes) return table.front().share;
  if (bytes >= table.back().bytes) return table.back().share;
  const auto above = std::ranges::upper_bound(table, bytes, {}, &WidthShare::bytes);
  const WidthShare& high = *above;
  const WidthShare& low = *(above - 1);
  const double along = std::log(bytes / low.bytes) / std::log(high.bytes / low.bytes);
  return low.share * std::pow(high.share / low.share, along);
}

// (steps + pieces) · (latency + work / pieces), for the best number of pieces: a pipeline that is filled for `steps`.
double pipelined(double steps, double latency, double work) {
  const auto time = [&](double pieces) { return (steps + pieces) * (latency + work / pieces); };
  if (latency <= 0) return steps > 0 ? time(most_pieces) : time(1);
  const double best = std::clamp(std::sqrt(steps * work / latency), 1.0, most_pieces);
  return std::min(time(std::floor(best)), time(std::ceil(best)));
}

std::int64_t rounded_log2(std::int64_t n) { return std::bit_width(static_cast<std::uint64_t>(n - 1)); }

// A port, or a link for each of the other units: n members, messages over `width`.
struct Ported {
  double n = 2;
  std::int64_t members = 2;
  double latency = 0;
  double width = 1;
  bool full = false;  // to all others at once

  double message(double bytes) const { return latency + bytes / width; }

  // Time and bytes of a reduce-scatter or an all-gather, which are each other's mirror.
  std::optional<Phase> half(double bytes, Algorithm algorithm) const {
    const double sent = (n - 1) / n * bytes;
    switch (algorithm) {
      case Algorithm::ring: return Phase{(n - 1) * message(bytes / n), sent};
      case Algorithm::direct: return Phase{(full ? 1 : n - 1) * message(bytes / n), sent};
      case Algorithm::halving:
        if (!std::has_single_bit(static_cast<std::uint64_t>(members))) return std::nullopt;
        return Phase{static_cast<double>(rounded_log2(members)) * latency + sent / width, sent};
      default: return std::nullopt;
    }
  }

  std::optional<Phase> all_reduce(double bytes, Algorithm algorithm) const {
    if (algorithm == Algorithm::tree && !full) {
      // Two trees, each for one half; in a round each chip takes two pieces and sends two.
      const double load = members == 2 ? 1 : 2;
      const auto depth = static_cast<double>(rounded_log2(members));
      return Phase{2 * load * pipelined(depth - 1, latency, bytes / 2 / width), 2 * (n - 1) / n * bytes};
    }
    const auto one = half(bytes, algorithm);
    if (!one) return std::nullopt;
    return Phase{2 * one->seconds, 2 * one->bytes};
  }

  std::optional<Phase> all_to_all(double bytes, Algorithm algorithm) const {
    switch (algorithm) {
      case Algorithm::ring: return Phase{n * (n - 1) / 2 * message(bytes / n), (n - 1) / 2 * bytes};
      case Algorithm::direct: return Phase{(full ? 1 : n - 1) * message(bytes / n), (n - 1) / n * bytes};
      case Algorithm::halving: {
        if (!std::has_single_bit(static_cast<std::uint64_t>(members))) return std::nullopt;
        const auto rounds = static_cast<double>(rounded_log2(members));
        return Phase{rounds * message(bytes / 2), rounds * bytes / 2};
      }
      default: return std::nullopt;
    }
  }

  std::optional<Phase> broadcast(double bytes, Algorithm algorithm) const {
    const double each = (n - 1) / n * bytes;
    const auto rounds = static_cast<double>(rounded_log2(members));
    switch (algorithm) {
      case Algorithm::ring: return Phase{pipelined(n - 2, latency, bytes / width), each};
      case Algorithm::tree: return Phase{rounds * message(bytes), each};
      case Algorithm::direct: return Phase{(full ? 1 : n - 1) * message(bytes), each};
      case Algorithm::halving:
        if (!std::has_single_bit(static_cast<std::uint64_t>(members))) return std::nullopt;
        return Phase{2 * rounds * latency + 2 * each / width, rounds * bytes / 2 / n + each};
      default: return std::nullopt;
    }
  }

  std::optional<Phase> of(Kind kind, double bytes, Algorithm algorithm) const {
    switch (kind) {
      case Kind::all_reduce: return all_reduce(bytes, algorithm);
      case Kind::reduce_scatter:
      case Kind::all_gather: return half(bytes, algorithm);
      case Kind::all_to_all: return all_to_all(bytes, algorithm);
      case Kind::broadcast: return broadcast(bytes, algorithm);
      case Kind::send: break;
    }
    return std::nullopt;
  }
};

// The switch adds up or copies: everything crosses it once.
std::optional<Phase> in_switch(const LevelGroup& group, Kind kind, double bytes) {
  if (group.level->kind != FabricKind::switched || !group.level->reduces) return std::nullopt;
  if (kind == Kind::all_to_all || kind == Kind::send) return std::nullopt;
  const auto n = static_cast<double>(group.members());
  const bool whole = kind == Kind::all_reduce || kind == Kind::broadcast;
  const double crossing = whole ? bytes : (n - 1) / n * bytes;
  return Phase{group.level->latency_s + crossing / width_of(*group.level, bytes, true), crossing};
}

// One ring of a ring or torus, or the part of one that a group lies on.
struct Line {
  double n = 1;
  double stride = 1;   // links from one member to the next, which as many groups share
  double latency = 0;  // from one member to the next
  double link = 1;     // what a group has of one link
  bool closed = false;

  Line(const LevelGroup& group, std::size_t dimension, double bytes) {
    const GroupSpan& span = group.spans[dimension];
    n = static_cast<double>(span.count);
    stride = static_cast<double>(span.extent / span.count);
    latency = stride * group.level->latency_s;
    link = width_of(*group.level, bytes, false) / static_cast<double>(2 * group.dimensions) / stride;
    closed = span.extent == group.positions[dimension];
  }

  // Both ways round at once where it is closed, half of every message each way; else to both sides.
  double rate() const { return closed ? 2 * link : link; }

  Phase half(double bytes) const { return {(n - 1) * (latency + bytes / n / rate()), (n - 1) / n * bytes * stride}; }

  // Every message goes all the way round; for the one d ahead, d links.
  Phase all_to_all_round(double bytes) const {
    return {n * (n - 1) / 2 * (latency + bytes / n / rate()), (n - 1) / 2 * bytes * stride};
  }

  // Every message takes the shortest way; first those to the nearest, on both sides at once.
  Phase all_to_all_shortest(double bytes) const {
    if (!closed) {
      return {n * (n - 1) / 2 * (latency + bytes / n / link), (n * n - 1) / 3 * bytes / n * stride};
    }
    const double sides = std::floor((n - 1) / 2);  // distances at which there is one on each side
    double seconds = sides * (sides + 1) / 2 * (latency + bytes / n / link);
    if (std::fmod(n, 2) == 0) seconds += n / 2 * (latency + bytes / n / 2 / link);  // half of the message each way
    return {seconds, std::floor(n * n / 4) * bytes / n * stride};
  }

  Phase broadcast(double bytes) const {
    return {pipelined(n - 2, latency, bytes / rate()), (n - 1) / n * bytes * stride};
  }

  std::optional<Phase> of(Kind kind, double bytes, Algorithm algorithm) const {
    const bool round = algorithm == Algorithm::ring;
    switch (kind) {
      case Kind::reduce_scatter:
      case Kind::all_gather: return round ? std::optional(half(bytes)) : std::nullopt;
      case Kind::all_to_all:
        if (round) return closed ? std::optional(all_to_all_round(bytes)) : std::nullopt;
        return algorithm == Algorithm::direct ? std::optional(all_to_all_shortest(bytes)) : std::nullopt;
      case Kind::broadcast: return round ? std::optional(broadcast(bytes)) : std::nullopt;
      default: return std::nullopt;
    }
  }
};

// The tensor in as many parts as there are dimensions; in each step every part works along another dimension, and the
// next step begins when all are done.
std::optional<Phase> on_lines(const LevelGroup& group, Kind kind, double bytes, Algorithm algorithm) {
  if (kind == Kind::all_reduce) {
    const auto one = on_lines(group, Kind::reduce_scatter, bytes, algorithm);
    if (!one) return std::nullopt;
    return Phase{2 * one->seconds, 2 * one->bytes};
  }
  std::array<std::size_t, max_torus_dimensions> active{};
  std::size_t parts = 0;
  for (std::size_t d = 0; d < group.dimensions; ++d)
    if (group.spans[d].count > 1) active[parts++] = d;
  std::array<double, max_torus_dimensions> left{};
  left.fill(bytes / static_cast<double>(parts));
  Phase total;
  for (std::size_t step = 0; step < parts; ++step) {
    double slowest = 0;
    for (std::size_t part = 0; part < parts; ++part) {
      Line line(group, active[(part + step) % parts], bytes);
      const auto one = line.of(kind, left[part], algorithm);
      if (!one) return std::nullopt;
      slowest = std::max(slowest, one->seconds);
      total.bytes += one->bytes;
      if (kind == Kind::reduce_scatter || kind == Kind::all_gather) left[part] /= line.n;
    }
    total.seconds += slowest;
  }
  return total;
}

bool offers(const FabricLevel& level, Algorithm algorithm) {
  if (level.algorithms.empty() || algorithm == Algorithm::ring || algorithm == Algorithm::direct) return true;
  return std::ranges::find(level.algorithms, algorithm) != level.algorithms.end();
}

}  // namespace

LevelGroups::LevelGroups(const Fabric& fabric, const GroupShape& group) : count(fabric.levels.size()) {
  std::int64_t below = 1;
  std::size_t at = 0;
  for (std::size_t l = 0; l < count; ++l) {
    const FabricLevel& level = fabric.levels[l];
    LevelGroup& made = levels[l];
    made.level = &level;
    const bool torus = level.kind == FabricKind::torus;
    made.dimensions = torus ? level.sizes.size() : 1;
    for (std::size_t d = 0; d < made.dimensions; ++d) {
      made.spans[d] = group.spans[at++];
      made.positions[d] = torus ? level.sizes[made.dimensions - 1 - d] : level.chips / below;
    }
    below = level.chips;
  }
}

double width_of(const FabricLevel& level, double bytes, bool in_switch) {
  const auto& table = in_switch && !level.efficiency_in_switch.empty() ? level.efficiency_in_switch : level.efficiency;
  return level.bytes_per_s / level.oversubscription * share_at(table, bytes);
}

double largest_width(const FabricLevel& level) {
  double most = 0;
  for (const auto* table : {&level.efficiency, &level.efficiency_in_switch})
    for (const WidthShare& each : *table) most = std::max(most, each.share);
  if (level.efficiency.empty()) most = 1;
  return level.bytes_per_s / level.oversubscription * most;
}

double link_width(const LevelGroup& group, double bytes) {
  const double width = width_of(*group.level, bytes, false);
  return group.level->kind == FabricKind::full ? width / static_cast<double>(group.positions[0] - 1) : width;
}

Phase neighbour_message(const LevelGroup& group, double bytes) {
  const FabricLevel& level = *group.level;
  if (level.kind == FabricKind::switched || level.kind == FabricKind::full) {
    return {level.latency_s + bytes / link_width(group, bytes), bytes};
  }
  // Neighbours along a dimension are at opposite ends of those inside it.
  double links = 0, ends = 0, width = 0;
  for (std::size_t d = 0; d < group.dimensions; ++d) {
    if (group.spans[d].count < 2) continue;
    const Line line(group, d, bytes);
    width = width == 0 ? line.link : std::min(width, line.link);
    links = line.stride + ends;
    ends += line.closed ? line.stride : (line.n - 1) * line.stride;
  }
  return {links * level.latency_s + bytes / width, links * bytes};
}

std::optional<Phase> phase(const LevelGroup& group, CollectiveKind kind, double bytes, CollectiveAlgorithm algorithm) {
  const FabricLevel& level = *group.level;
  if (!offers(level, algorithm)) return std::nullopt;
  if (algorithm == Algorithm::in_switch) return in_switch(group, kind, bytes);
  if (level.kind == FabricKind::ring || level.kind == FabricKind::torus) {
    return on_lines(group, kind, bytes, algorithm);
  }
  const std::int64_t members = group.members();
  const Ported ported{.n = static_cast<double>(members),
                      .members = members,
                      .latency = level.latency_s,
                      .width = link_width(group, bytes),
                      .full = level.kind == FabricKind::full};
  return ported.of(kind, bytes, algorithm);
}

BestPhase best_phase(const LevelGroup& group, CollectiveKind kind, double bytes) {
  BestPhase best;
  for (std::size_t i = 0; i < collective_algorithm_count; ++i) {
    const auto algorithm = static_cast<Algorithm>(i);
    const auto one = phase(group, kind, bytes, algorithm);
    if (!one || (best.found && one->seconds >= best.phase.seconds)) continue;
    best = {*one, algorithm, true};
  }
  return best;
}

}  // namespace monet
