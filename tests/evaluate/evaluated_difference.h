// Are two evaluations the same, bit for bit?
#pragma once

#include "evaluate/evaluate.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

namespace monet::test {

template <class T, class Key>
bool same_entries(const std::vector<T>& a, const std::vector<T>& b, const Key& key) {
  return std::ranges::equal(a, b, {}, key, key);
}

inline std::string difference(const Assignment& a, const Assignment& b) {
  if (a.operators != b.operators) return "operators of the assignment";
  if (a.stacks != b.stacks) return "stacks";
  if (a.paged != b.paged || a.order != b.order || a.transfers != b.transfers) return "paging, order or transfers";
  return a.filled == b.filled ? "" : "what the policy filled in";
}

inline std::string difference(const TileGraph& a, const TileGraph& b) {
  const auto axis = [](const GridAxis& x) { return std::tie(x.loop, x.bounds, x.piece, x.piece_step, x.reduces); };
  const auto same_axes = [&](const OperatorTiles& x, const OperatorTiles& y) {
    return x.first == y.first && x.count == y.count && same_entries(x.axes, y.axes, axis);
  };
  if (!std::ranges::equal(a.operators, b.operators, same_axes)) return "grids";
  if (a.node != b.node || a.first_read != b.first_read || a.first_write != b.first_write) return "tiles";
  if (!same_entries(a.reads, b.reads, [](const TileRead& x) { return std::tuple(x.buffer, x.part); })) return "reads";
  if (a.parts != b.parts) return "parts";
  if (!same_entries(a.writes, b.writes,
                    [](const TileWrite& x) { return std::tuple(x.buffer, x.output, x.adds, x.final); }))
    return "writes";
  if (!same_entries(a.buffers, b.buffers, [](const Buffer& x) { return std::tuple(x.tensor, x.maker, x.bytes); }))
    return "buffers";
  return a.first_buffer == b.first_buffer ? "" : "buffers of tensors";
}

inline bool same_cost(const TileCost& a, const TileCost& b) {
  const auto numbers = [](const TileCost& c) {
    return std::tie(c.cycles, c.compute_cycles, c.stall_cycles, c.load_cycles, c.fill_cycles, c.ideal_cycles,
                    c.bound_cycles, c.macs, c.compute_pj, c.network_pj, c.level_pj, c.streamed, c.home_read_bits,
                    c.home_write_bits, c.precision, c.bound_by);
  };
  const auto port = [](const PortUse& u) { return std::tuple(u.level, u.port, u.bits); };
  const auto held = [](const HeldBytes& h) { return std::tuple(h.level, h.bytes); };
  return numbers(a) == numbers(b) && same_entries(a.ports, b.ports, port) && same_entries(a.held, b.held, held);
}

inline std::string difference(const Schedule& a, const Schedule& b) {
  if (a.cycles != b.cycles) return "cycles";
  if (!same_entries(a.tiles, b.tiles, [](const ScheduledTile& t) {
        return std::tuple(t.start, t.end, t.cost, t.core, t.wait, t.read_route, t.write_route, t.by);
      }))
    return "scheduled tiles";
  if (!same_entries(a.transfers, b.transfers, [](const ScheduledTransfer& t) {
        return std::tuple(t.start, t.end, t.bytes, t.buffer, t.from, t.to, t.route, t.kind, t.joined, t.wait, t.by);
      }))
    return "transfers";
  if (!same_entries(a.stays, b.stays,
                    [](const Stay& s) { return std::tuple(s.start, s.end, s.bytes, s.buffer, s.tile, s.memory); }))
    return "stays";
  if (!same_entries(a.home, b.home,
                    [](const TensorStay& s) { return std::tuple(s.start, s.end, s.bytes, s.tensor, s.memory); }))
    return "stays at home";
  if (!std::ranges::equal(a.costs, b.costs, same_cost)) return "costs";
  const auto use = [](const ChannelUse& u) { return std::tuple(u.channel, u.share); };
  const auto same_route = [&](const Route& x, const Route& y) {
    return std::tie(x.from, x.to, x.bits_per_cycle, x.latency_cycles, x.pj_per_bit) ==
               std::tie(y.from, y.to, y.bits_per_cycle, y.latency_cycles, y.pj_per_bit) &&
           same_entries(x.channels, y.channels, use);
  };
  if (!std::ranges::equal(a.routes, b.routes, same_route)) return "routes";
  if (!same_entries(a.channels, b.channels, [](const Channel& c) {
        return std::tie(c.name, c.link, c.memory, c.port, c.ports, c.bits_per_cycle);
      }))
    return "channels";
  return a.home_of == b.home_of ? "" : "homes of cores";
}

// In what they differ; empty: in nothing but the time that they took.
inline std::string difference(const Evaluated& a, const Evaluated& b) {
  if (std::string what = difference(a.assignment, b.assignment); !what.empty()) return what;
  if (std::string what = difference(a.tiles, b.tiles); !what.empty()) return what;
  return difference(a.schedule, b.schedule);
}

// Also of what could not be evaluated.
inline std::string difference(const Expected<Evaluated>& a, const Expected<Evaluated>& b) {
  if (a.has_value() != b.has_value()) return "one fails: " + (a ? b.error() : a.error()).text();
  if (a.has_value()) return difference(*a, *b);
  return a.error().text() == b.error().text() ? "" : a.error().text() + " | " + b.error().text();
}

}  // namespace monet::test
