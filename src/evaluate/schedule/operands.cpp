#include "evaluate/schedule/scheduling.h"

#include "base/try.h"

#include <algorithm>

namespace monet::scheduling {

bool Scheduler::has_more_than_it_needs(TileId tile) const {
  return std::ranges::any_of(tiles_.reads_of(tile), [&](const TileRead& read) {
    if (places_.streams(tile, read)) return false;
    const std::uint32_t copy = find(tile, read);
    return copy != none && copies_[copy].bytes > tiles_.part(read).group_bytes;
  });
}

bool Scheduler::has_room_for_all(TileId tile, const TileCost& tile_cost) {
  needs_.clear();
  const auto need = [&](MemoryId memory, std::int64_t bytes) {
    const auto known = std::ranges::find(needs_, memory, &std::pair<MemoryId, std::int64_t>::first);
    if (known == needs_.end()) {
      needs_.emplace_back(memory, bytes);
    } else {
      known->second += bytes;
    }
  };
  for (const TileRead& read : tiles_.reads_of(tile)) {
    if (places_.streams(tile, read)) continue;
    const std::uint32_t copy = find(tile, read);
    need(places_.memory_for(tile, read), copy != none ? copies_[copy].bytes : tiles_.part(read).group_bytes);
  }
  for (const TileWrite& write : tiles_.writes_of(tile)) {
    if (places_.streams_out(tile)) break;
    need(places_.output_memory(tile), tiles_.buffers[write.buffer.index()].bytes);
  }
  for (const HeldBytes& held : tile_cost.held)
    need(hardware_[places_.core_of(tile)].levels[held.level].memory, held.bytes);
  return std::ranges::all_of(needs_, [&](const auto& each) {
    const Room& room = rooms_[each.first.index()];
    return !room.is_bounded() || each.second <= room.capacity();
  });
}

Expected<Moment> Scheduler::at_home(TileId tile, const TileRead& read) {
  BufferState& state = buffers_[read.buffer.index()];
  if (state.paged_out) page_in(read.buffer, cores_[places_.core_of(tile).index()].previous_start);
  if (state.home.at == never) MONET_RETURN_IF_ERROR(write_back(read.buffer));
  const MemoryId wanted = places_.memory_for(tile, read);
  const MemoryId home = tensor_of(read.buffer).home;
  if (wanted == home) return state.home;
  return visit(read.buffer, tiles_.part(read).bytes, wanted);
}

Expected<Moment> Scheduler::visit(BufferId buffer, std::int64_t bytes, MemoryId memory) {
  const MemoryId home = tensor_of(buffer).home;
  MONET_TRY(const std::uint32_t route, machine_.needed_route(home, memory));
  MONET_TRY(const Moment there,
            move(buffer, bytes, home, memory, route, TransferKind::fetch, buffers_[buffer.index()].home));
  visits_.push_back({.start = out_.transfers.back().start,
                     .end = never,
                     .bytes = bytes,
                     .buffer = buffer,
                     .tile = {},
                     .memory = memory});
  return there;
}

Expected<Moment> Scheduler::in_core(TileId tile, const TileRead& read) {
  const MemoryId memory = places_.memory_for(tile, read);
  const ReadPart& part = tiles_.part(read);
  const std::uint32_t group =
      part.group_bytes >= tiles_.buffers[read.buffer.index()].bytes ? none : places_.group_of(tile);
  std::uint32_t copy = find(tile, read);
  if (copy == none) {
    MONET_TRY(copy, fetch(tile, read.buffer, memory,
                          group == none ? tiles_.buffers[read.buffer.index()].bytes : part.group_bytes, group,
                          TransferKind::fetch, part.input));
  }
  copies_[copy].pinned = pin_;
  used_.push_back(copy);
  return copies_[copy].ready;
}

Expected<std::uint32_t> Scheduler::fetch(TileId tile, BufferId buffer, MemoryId memory, std::int64_t bytes,
                                         std::uint32_t group, TransferKind kind, std::uint8_t input) {
  BufferState& state = buffers_[buffer.index()];
  if (state.paged_out) page_in(buffer, cores_[places_.core_of(tile).index()].previous_start);
  // Where it can come from: the core that could send all of it first, or home.
  std::uint32_t best = none;
  std::uint32_t best_route = no_route;
  double best_end = never;
  const double bits = 8.0 * static_cast<double>(bytes);
  const TensorState& tensor = tensor_of(buffer);
  if (direct_) {
    const auto can_send = [&](const Copy& copy) { return copy.group == none && copy.memory != memory; };
    std::size_t senders = 0;
    for (std::uint32_t c = state.copies; c != none; c = copies_[c].next) {
      if (!can_send(copies_[c])) continue;
      best = c;
      ++senders;
    }
    for (std::uint32_t c = senders > 1 ? state.copies : none; c != none; c = copies_[c].next) {
      if (!can_send(copies_[c])) continue;
      const double end = copies_[c].ready.at + machine_.least_cycles(copies_[c].memory, memory, bits);
      if (end < best_end) {
        best = c;
        best_end = end;
      }
    }
    if (best != none) best_route = machine_.route(copies_[best].memory, memory);
    if (best_route == no_route) best = none;
  }
  if (best == none && state.home.at == never) MONET_RETURN_IF_ERROR(write_back(buffer));
  if (state.home.at < never) {
    const std::uint32_t route = machine_.route(tensor.home, memory);
    if (route == no_route && best == none) return machine_.needed_route(tensor.home, memory);
    if (route != no_route) {
      // The one that is free first.
      const auto end = [&](std::uint32_t along, double from) {
        const Route& way = machine_.routes()[along];
        return bookings_.probe(way.channels, from, bits, way.bits_per_cycle);
      };
      if (best == none || end(route, state.home.at) <= end(best_route, copies_[best].ready.at)) {
        best = none;
        best_route = route;
      }
    }
  }
  // Copies may be evicted now, but not the source.
  const std::uint32_t source_pin = best != none ? std::exchange(copies_[best].pinned, pin_) : none;
  MONET_TRY(const Moment room, make_room(tile, memory, bytes));
  if (best != none) copies_[best].pinned = source_pin;
  const MemoryId from = best != none ? copies_[best].memory : tensor.home;
  const Moment source = best != none ? copies_[best].ready : state.home;
  const std::uint32_t copy = add_copy(buffer, memory, bytes, group, input);
  if (const std::uint32_t joined = joinable(buffer, memory, from, best_route, bytes, room); joined != none) {
    const ScheduledTransfer other = out_.transfers[joined];
    copies_[copy].ready = {other.end, Wait::transfer, static_cast<std::uint32_t>(out_.transfers.size())};
    begin_stay(copy, other.start);
    out_.transfers.push_back({.start = other.start,
                              .end = other.end,
                              .bytes = bytes,
                              .buffer = buffer,
                              .from = from,
                              .to = memory,
                              .route = best_route,
                              .kind = best != none ? TransferKind::core_to_core : kind,
                              .joined = true,
                              .wait = other.wait,
                              .by = other.by});
    copies_[copy].idle = copies_[copy].ready;
    return copy;
  }
  if (best != none) kind = TransferKind::core_to_core;
  Moment earliest = later(source, room);
  listeners_.clear();
  if (group == none) find_listeners(tile, buffer, memory, from, best_route, earliest);
  // Nobody listens to the bus: links beside it may be free sooner.
  if (best != none && listeners_.empty()) best_route = sooner(best_route, from, memory, bits, earliest.at);
  MONET_TRY(const Moment ready, move(buffer, bytes, from, memory, best_route, kind, earliest));
  copies_[copy].ready = copies_[copy].idle = ready;
  const ScheduledTransfer carrier = out_.transfers.back();
  begin_stay(copy, carrier.start);
  for (const auto& [listener, route] : listeners_) {
    Copy& heard = copies_[listener];
    heard.ready = heard.idle = {ready.at, Wait::transfer, static_cast<std::uint32_t>(out_.transfers.size())};
    begin_stay(listener, carrier.start);
    out_.transfers.push_back(carrier);
    out_.transfers.back().to = heard.memory;
    out_.transfers.back().route = route;
    out_.transfers.back().joined = true;
  }
  if (best != none) keep_until(copies_[best], ready);
  return copy;
}

std::uint32_t Scheduler::sooner(std::uint32_t route, MemoryId from, MemoryId to, double bits, double start) {
  if (!machine_.has_bus(route)) return route;
  const std::uint32_t detour = machine_.detour(from, to);
  if (detour == no_route) return route;
  const auto end = [&](std::uint32_t along) {
    const Route& way = machine_.routes()[along];
    return bookings_.probe(way.channels, start, bits, way.bits_per_cycle) + way.latency_cycles;
  };
  return end(detour) < end(route) ? detour : route;
}

void Scheduler::find_listeners(TileId tile, BufferId buffer, MemoryId memory, MemoryId from, std::uint32_t route,
                               Moment& earliest) {
  if (!machine_.has_bus(route)) return;
  const std::int64_t bytes = tiles_.buffers[buffer.index()].bytes;
  const double latest = earliest.at + 8.0 * static_cast<double>(bytes) / machine_.routes()[route].bits_per_cycle;
  const NodeId node = tiles_.node[tile.index()];
  for (std::uint32_t reader : readers_.to_come(buffer)) {
    const TileId other(reader);
    if (tiles_.node[other.index()] != node) break;
    if (readers_.is_placed(other) || other == tile) continue;
    for (const TileRead& read : tiles_.reads_of(other)) {
      if (read.buffer != buffer || places_.streams(other, read)) continue;
      const MemoryId to = places_.memory_for(other, read);
      if (to == memory || tiles_.part(read).group_bytes < bytes || find(buffer, to) != none) continue;
      const std::uint32_t way = machine_.route(from, to);
      if (way == no_route || !machine_.has_bus(way) || !same_way(route, way, to)) continue;
      Room& room = rooms_[to.index()];
      const std::optional<Moment> free = room.find(bytes);
      if (!free || free->at > latest) continue;
      room.hold(bytes);
      earliest = later(earliest, *free);
      const std::uint32_t copy = add_copy(buffer, to, bytes);
      copies_[copy].pinned = none;
      listeners_.emplace_back(copy, way);
    }
  }
}

bool Scheduler::same_way(std::uint32_t route, std::uint32_t way, MemoryId to) const {
  const Route& heard = machine_.routes()[route];
  const Route& own = machine_.routes()[way];
  if (own.bits_per_cycle < heard.bits_per_cycle || own.latency_cycles > heard.latency_cycles) return false;
  const auto& along = heard.channels;
  return std::ranges::all_of(machine_.routes()[way].channels, [&](const ChannelUse& use) {
    return machine_.channels()[use.channel].memory == to ||
           std::ranges::find(along, use.channel, &ChannelUse::channel) != along.end();
  });
}

std::uint32_t Scheduler::joinable(BufferId buffer, MemoryId memory, MemoryId from, std::uint32_t route,
                                  std::int64_t bytes, const Moment& room) const {
  const std::uint32_t id = buffers_[buffer.index()].bus_transfer;
  if (id == none) return none;
  const ScheduledTransfer& transfer = out_.transfers[id];
  if (transfer.from != from || transfer.bytes != bytes || transfer.to == memory || room.at > transfer.start ||
      tiles_.buffers[buffer.index()].bytes != bytes || !machine_.has_bus(route)) {
    return none;
  }
  return same_way(transfer.route, route, memory) ? id : none;
}

}  // namespace monet::scheduling
