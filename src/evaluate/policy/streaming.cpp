#include "evaluate/policy/streaming.h"

#include <algorithm>

namespace monet {

namespace {

bool has(std::uint8_t paths, std::size_t path) { return (paths >> path & 1U) != 0; }
std::uint8_t bit(std::size_t path) { return static_cast<std::uint8_t>(1U << path); }

// The largest of those that do not stream; path_count: all do.
std::size_t largest(const std::array<std::int64_t, path_count>& bytes, std::uint8_t streamed) {
  std::size_t best = path_count;
  for (std::size_t p = 0; p < path_count; ++p) {
    if (!has(streamed, p) && (best == path_count || bytes[p] > bytes[best])) best = p;
  }
  return best;
}

}  // namespace

Streaming::Streaming(const RoutedMachine& machine, const TileCosts& costs, const Assignment& assignment,
                     const TileGraph& tiles, bool everything)
    : machine_(machine), costs_(costs), assignment_(assignment), tiles_(tiles) {
  std::vector<std::size_t> members(assignment.stacks.size(), 0);
  for (std::size_t n = 0; n < tiles.operators.size(); ++n) {
    if (tiles.operators[n].count > 0) ++members[assignment.operators[n].stack];
  }
  counted_.assign(tiles.buffers.size(), 0);
  readers_.assign(tiles.buffers.size(), {});
  const std::vector<std::vector<std::uint32_t>> sharing = find_sharing();
  for (std::size_t n = 0; n < tiles.operators.size(); ++n) {
    const NodeId node(n);
    first_group_.push_back(static_cast<std::uint32_t>(groups_.size()));
    const OperatorTiles& op = tiles.operators[n];
    if (op.count == 0) continue;
    for (CoreId core : assignment.operators[n].cores) {
      const std::uint32_t kind = machine[core].kind;
      const auto known = std::ranges::find(groups_.begin() + first_group_[n], groups_.end(), kind, &Group::kind);
      if (known == groups_.end()) groups_.push_back({.kind = kind});
      Group& group = groups_[group_of(node, kind)];
      if (!sharing.empty()) {
        group.cores = std::max<std::int64_t>(group.cores, sharing[assignment.operators[n].stack][core.index()]);
      }
    }
    find_common(node);
    for (std::uint32_t i = 0; i < op.count && !everything; ++i) {
      const TileId tile(op.first + i);
      const CorePlaces& places = machine[core_of(node, tile)];
      Group& group = groups_[group_of(node, places.kind)];
      Bytes common{};
      const Bytes bytes = bytes_of(node, tile, places, common);
      for (std::size_t p = 0; p < path_count; ++p) {
        group.most[p] = std::max(group.most[p], bytes[p]);
        group.common[p] = std::max(group.common[p], common[p]);
      }
    }
    const std::int64_t parts = members[assignment.operators[n].stack] <= 1 ? 2 : 1;
    for (std::size_t g = first_group_[n]; g < groups_.size(); ++g) {
      Group& group = groups_[g];
      const CoreId core = machine.first_of_kind(group.kind);
      for (std::size_t p = 0; p < path_count; ++p) {
        if (everything || !machine[core].local[p].valid()) group.streamed |= bit(p);
      }
      while (!machine.lives_in_storage()) {
        const std::size_t path = too_large(group, group.streamed, group.most, {}, parts);
        if (path == path_count) break;
        group.streamed |= bit(path);
      }
    }
  }
  first_group_.push_back(static_cast<std::uint32_t>(groups_.size()));
}

std::size_t Streaming::group_of(NodeId node, std::size_t kind) const {
  std::size_t group = first_group_[node.index()];
  while (groups_[group].kind != kind) ++group;
  return group;
}

CoreId Streaming::core_of(NodeId node, TileId tile) const {
  const std::vector<CoreId>& cores = assignment_.operators[node.index()].cores;
  return cores[cores.size() == 1 ? 0 : tiles_.piece_of(tile)];
}

std::vector<std::vector<std::uint32_t>> Streaming::find_sharing() const {
  const std::size_t cores = machine_.hardware().cores.size();
  bool shared = false;
  for (std::size_t c = 0; c < cores; ++c) {
    for (MemoryId local : machine_[CoreId(c)].local) shared |= local.valid() && machine_.is_shared(local);
  }
  if (!shared) return {};
  std::vector<std::vector<std::uint32_t>> sharing(assignment_.stacks.size(), std::vector<std::uint32_t>(cores, 0));
  for (std::size_t n = 0; n < tiles_.operators.size(); ++n) {
    if (tiles_.operators[n].count == 0) continue;
    for (CoreId core : assignment_.operators[n].cores) sharing[assignment_.operators[n].stack][core.index()] = 1;
  }
  std::vector<std::uint32_t> users(machine_.hardware().memories.size());
  for (std::vector<std::uint32_t>& stack : sharing) {
    std::ranges::fill(users, 0);
    const auto each = [&](std::size_t core, const auto& visit) {
      const auto& local = machine_[CoreId(core)].local;
      for (std::size_t p = 0; p < path_count; ++p) {
        const auto first = std::ranges::find(local, local[p]);
        if (local[p].valid() && first == local.begin() + static_cast<std::ptrdiff_t>(p)) visit(local[p].index());
      }
    };
    for (std::size_t c = 0; c < cores; ++c) {
      if (stack[c] > 0) each(c, [&](std::size_t memory) { ++users[memory]; });
    }
    for (std::size_t c = 0; c < cores; ++c) {
      if (stack[c] > 0) each(c, [&](std::size_t memory) { stack[c] = std::max(stack[c], users[memory]); });
    }
  }
  return sharing;
}

void Streaming::find_common(NodeId node) {
  const OperatorTiles& op = tiles_.operators[node.index()];
  if (groups_.back().cores <= 1) return;
  for (std::uint32_t i = 0; i < op.count; ++i) {
    const TileId tile(op.first + i);
    const auto piece = static_cast<std::uint32_t>(tiles_.piece_of(tile)) + 1;
    for (const TileRead& read : tiles_.reads_of(tile)) {
      if (tiles_.part(read).group_bytes < tiles_.buffers[read.buffer.index()].bytes) continue;
      Readers& readers = readers_[read.buffer.index()];
      const auto number = static_cast<std::uint32_t>(node.index()) + 1;
      if (readers.node != number) readers = {.node = number};
      if (readers.last != piece) ++readers.pieces;
      readers.last = piece;
    }
  }
}

Streaming::Bytes Streaming::bytes_of(NodeId node, TileId tile, const CorePlaces& places, Bytes& common) {
  Bytes bytes{};
  const auto reads = tiles_.reads_of(tile);
  const auto path_of = [&](const TileRead& read) {
    return static_cast<std::size_t>(costs_.path_of(node, tiles_.part(read).input));
  };
  for (std::size_t i = 0; i < reads.size(); ++i) {
    const std::size_t path = path_of(reads[i]);
    const std::int64_t whole = tiles_.buffers[reads[i].buffer.index()].bytes;
    const std::int64_t part = tiles_.part(reads[i]).group_bytes;
    if (part < whole) {
      bytes[path] += part;
      continue;
    }
    // All of a buffer is there once, also for two inputs.
    std::uint32_t& counted = counted_[reads[i].buffer.index()];
    const bool again = counted == tile.index() + 1 && std::ranges::any_of(reads.first(i), [&](const TileRead& read) {
                         return read.buffer == reads[i].buffer && places.local[path_of(read)] == places.local[path];
                       });
    counted = static_cast<std::uint32_t>(tile.index()) + 1;
    if (again) continue;
    const Readers& readers = readers_[reads[i].buffer.index()];
    const bool by_all =
        readers.node == node.index() + 1 && readers.pieces >= assignment_.operators[node.index()].cores.size();
    (by_all ? common : bytes)[path] += whole;
  }
  for (const TileWrite& write : tiles_.writes_of(tile)) {
    bytes[static_cast<std::size_t>(Path::output)] += tiles_.buffers[write.buffer.index()].bytes;
  }
  return bytes;
}

std::size_t Streaming::too_large(const Group& group, std::uint8_t streamed, const Bytes& own,
                                 std::span<const HeldBytes> held, std::int64_t parts) const {
  const CoreId core = machine_.first_of_kind(group.kind);
  const CorePlaces& places = machine_[core];
  std::size_t best = path_count;
  for (std::size_t p = 0; p < path_count; ++p) {
    if (has(streamed, p)) continue;
    const MemoryId memory = places.local[p];
    const std::int64_t cores = machine_.is_shared(memory) ? group.cores : 1;
    std::int64_t sum = 0;
    for (std::size_t q = 0; q < path_count; ++q) {
      if (!has(streamed, q) && places.local[q] == memory) sum += group.common[q] + cores * own[q];
    }
    for (const HeldBytes& each : held) {
      if (machine_.hardware()[core].levels[each.level].memory == memory) sum += cores * each.bytes;
    }
    const bool fits = sum <= machine_.capacity_bytes(memory) / parts;
    const auto bytes = [&](std::size_t path) { return own[path] + group.common[path]; };
    if (!fits && (best == path_count || bytes(p) > bytes(best))) best = p;
  }
  return best;
}

Expected<bool> Streaming::widen(std::span<const std::uint32_t> cost_of) {
  constexpr std::uint32_t none = 0xffffffffU;
  bool widened = false;
  for (std::size_t n = 0; n < tiles_.operators.size(); ++n) {
    const NodeId node(n);
    const OperatorTiles& op = tiles_.operators[n];
    std::uint32_t fine = none;  // the last cost for which even the largest tile fits
    for (std::uint32_t i = 0; i < op.count; ++i) {
      const TileId tile(op.first + i);
      const std::uint32_t cost = cost_of[tile.index()];
      if (cost == fine) continue;
      const CoreId core = core_of(node, tile);
      Group& group = groups_[group_of(node, machine_[core].kind)];
      const std::uint8_t asked = costs_[cost].streamed;
      if (group.streamed != asked) continue;  // it was widened in this round
      std::size_t more = path_count;
      if (!costs_.is_possible(cost)) {
        Bytes all = group.most;
        for (std::size_t p = 0; p < path_count; ++p) all[p] += group.common[p];
        more = largest(all, asked);
        if (more == path_count || machine_.lives_in_storage()) return costs_.failure(node, cost);
      } else if (machine_.lives_in_storage()) {
        fine = cost;
        continue;
      } else if (too_large(group, asked, group.most, costs_[cost].held, 1) == path_count) {
        fine = cost;
        continue;
      } else {
        Bytes common{};
        const Bytes own = bytes_of(node, tile, machine_[core], common);
        more = too_large(group, asked, own, costs_[cost].held, 1);
        if (more == path_count) continue;
      }
      group.streamed |= bit(more);
      widened = true;
    }
  }
  return widened;
}

bool Streaming::try_more(std::span<const std::uint32_t> cost_of) {
  // Of its time; less is not worth a search.
  constexpr double waiting = 0.1;
  bool any = false;
  for (std::size_t n = 0; n < tiles_.operators.size(); ++n) {
    const OperatorTiles& op = tiles_.operators[n];
    for (std::size_t g = first_group_[n]; g < first_group_[n + 1]; ++g) groups_[g].tried = 0;
    for (std::uint32_t i = 0; i < op.count; ++i) {
      const TileCost& cost = costs_[cost_of[op.first + i]];
      Group& group = groups_[group_of(NodeId(n), machine_[core_of(NodeId(n), TileId(op.first + i))].kind)];
      if (group.settled || group.tried != 0 || group.streamed == 0) continue;
      if (cost.stall_cycles < waiting * cost.cycles) continue;
      Bytes all = group.most;
      for (std::size_t p = 0; p < path_count; ++p) all[p] += group.common[p];
      const std::size_t more = largest(all, group.streamed);
      if (more == path_count || all[more] == 0) continue;
      group.tried = bit(more);
      group.streamed |= group.tried;
      any = true;
    }
    for (std::size_t g = first_group_[n]; g < first_group_[n + 1]; ++g) groups_[g].settled |= groups_[g].tried == 0;
  }
  return any;
}

void Streaming::decide(std::span<const std::uint32_t> before, std::span<const std::uint32_t> tried) {
  std::vector<double> gain;
  for (std::size_t n = 0; n < tiles_.operators.size(); ++n) {
    const NodeId node(n);
    const OperatorTiles& op = tiles_.operators[n];
    const std::size_t first = first_group_[n];
    gain.assign(first_group_[n + 1] - first, 0);
    for (std::uint32_t i = 0; i < op.count; ++i) {
      const TileId tile(op.first + i);
      const CoreId core = core_of(node, tile);
      const std::size_t g = group_of(node, machine_[core].kind);
      Group& group = groups_[g];
      if (group.tried == 0) continue;
      const std::uint32_t cost = tried[tile.index()];
      if (!costs_.is_possible(cost)) {
        gain[g - first] = -1;
        break;
      }
      Bytes common{};
      const Bytes own = bytes_of(node, tile, machine_[core], common);
      if (too_large(group, group.streamed, own, costs_[cost].held, 1) != path_count) {
        gain[g - first] = -1;
        break;
      }
      // What is not left on chip, somebody fetches.
      double fetched = 0;
      if (group.tried == bit(static_cast<std::size_t>(Path::output))) {
        const double width = machine_.home_bits_per_cycle(core);
        fetched = width > 0 ? 8 * static_cast<double>(own[static_cast<std::size_t>(Path::output)]) / width : 0;
      }
      gain[g - first] += costs_[before[tile.index()]].cycles - costs_[cost].cycles - fetched;
    }
    for (std::size_t g = first; g < first_group_[n + 1]; ++g) {
      Group& group = groups_[g];
      if (group.tried == 0 || gain[g - first] > 0) continue;
      group.streamed = static_cast<std::uint8_t>(group.streamed & ~group.tried);
      group.settled = true;
    }
  }
}

std::vector<std::uint8_t> Streaming::by_tile() const {
  std::vector<std::uint8_t> streamed(tiles_.tiles());
  for (std::size_t n = 0; n < tiles_.operators.size(); ++n) {
    const OperatorTiles& op = tiles_.operators[n];
    const bool same = first_group_[n + 1] - first_group_[n] == 1;
    for (std::uint32_t i = 0; i < op.count; ++i) {
      const std::size_t group =
          same ? first_group_[n] : group_of(NodeId(n), machine_[core_of(NodeId(n), TileId(op.first + i))].kind);
      streamed[op.first + i] = groups_[group].streamed;
    }
  }
  return streamed;
}

}  // namespace monet
