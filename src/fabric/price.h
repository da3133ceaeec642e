// What a collective costs on a fabric: closed formulas, the same work for eight chips and for a hundred thousand.
//
// A message of b bytes takes latency + b / width, a chip sends one and receives one at a time through its port of a
// level (on a ring, torus or full level one for each link), and ports of different levels work at the same time.
// docs/parallel.md has the formula of each algorithm; tests/fabric carries every one out message by message.
#pragma once

#include "fabric/mesh.h"

#include <array>
#include <optional>
#include <string_view>

namespace monet {

enum class CollectiveKind : std::uint8_t { all_reduce, reduce_scatter, all_gather, all_to_all, broadcast, send };
constexpr std::size_t collective_kind_count = 6;
std::string_view name_of(CollectiveKind kind);
std::optional<CollectiveKind> collective_kind_named(std::string_view name);

struct Collective {
  CollectiveKind kind = CollectiveKind::all_reduce;
  // The whole tensor, S, always: what each chip has before and after an all-reduce, before a reduce-scatter, after an
  // all-gather (n shards together), before an all-to-all (of which it keeps one n-th), or after a broadcast; the
  // message of a send.
  double bytes = 0;
  // send: each chip of the group sends to the next along it; the slowest of these is priced.
  GroupShape group;
};

struct CollectivePrice {
  double seconds = 0;
  double bound_seconds = 0;  // no algorithm that reaches a chip over the lowest level they share is faster
  double energy_pj = 0;      // of the wires, for all chips of one group
  CollectiveAlgorithm algorithm = CollectiveAlgorithm::direct;
  // By level of the fabric: bytes that leave (or enter, where that is more) a chip, the mean over the group; and for
  // how long the level is at work. Levels of a hierarchical algorithm work one after the other, so that their seconds
  // add up to all but the start; of a flat one at the same time.
  std::array<double, max_fabric_levels> bytes{};
  std::array<double, max_fabric_levels> level_seconds{};
};

// The fastest; among equals the first in the order of CollectiveAlgorithm. A group of one costs nothing.
// Requires: `fabric` comes from with_chips and the group from group_shape on it; bytes >= 0.
CollectivePrice price(const Fabric& fabric, const Collective& collective);
// By that algorithm; none: this fabric, its library or the number of chips does not allow it.
std::optional<CollectivePrice> price(const Fabric& fabric, const Collective& collective, CollectiveAlgorithm algorithm);
// Those that price() gives a value for, in order.
std::vector<CollectiveAlgorithm> algorithms_of(const Fabric& fabric, const Collective& collective);

}  // namespace monet
