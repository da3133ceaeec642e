#include "evaluate/schedule/residency.h"

#include "base/try.h"

#include <fmt/format.h>

#include <algorithm>

namespace monet::scheduling {

Residency::Residency(const ScheduleInput& input, std::span<const std::uint32_t> rank, Readers& readers, Homes& homes,
                     Transfers& transfers, std::vector<Stay>& stays)
    : in_(input),
      rank_(rank),
      readers_(readers),
      homes_(homes),
      transfers_(transfers),
      stays_(stays),
      held_(input.machine.hardware().memories.size()),
      first_(input.tiles.buffers.size(), none) {
  for (std::size_t m = 0; m < held_.size(); ++m) {
    const bool bounded = !in_.machine.is_backing(MemoryId(m));
    rooms_.emplace_back(bounded ? std::optional(in_.machine.capacity_bytes(MemoryId(m))) : std::nullopt);
  }
}

std::uint32_t Residency::add(const Placing& now, BufferId buffer, MemoryId memory, std::int64_t bytes,
                             std::uint32_t group, std::uint8_t input) {
  std::uint32_t id = none;
  if (!free_copies_.empty()) {
    id = free_copies_.back();
    free_copies_.pop_back();
  } else {
    id = static_cast<std::uint32_t>(copies_.size());
    copies_.emplace_back();
  }
  Copy& copy = copies_[id];
  copy = {};  // not from a temporary, which stalls: it is written in small pieces and read in large ones
  copy.memory = memory;
  copy.group = group;
  copy.input = input;
  copy.buffer = buffer;
  copy.pinned = now.tile;
  copy.bytes = bytes;
  copy.readers = readers_.to_come_in(buffer, memory, group, input);
  copy.place = static_cast<std::uint32_t>(held_[memory.index()].size());
  copy.stay = static_cast<std::uint32_t>(stays_.size());
  link(id);
  held_[memory.index()].push_back(id);
  stays_.push_back({.start = 0, .end = never, .bytes = bytes, .buffer = buffer, .tile = {}, .memory = memory});
  return id;
}

void Residency::release(std::uint32_t id) {
  const Copy& copy = copies_[id];
  Stay& stay = stays_[copy.stay];
  stay.end = std::max(copy.idle.at, stay.start);
  rooms_[copy.memory.index()].give_back(taken(copy.bytes), {stay.end, copy.idle.wait, copy.idle.by});
  auto& held = held_[copy.memory.index()];
  copies_[held.back()].place = copy.place;
  held[copy.place] = held.back();
  held.pop_back();
  unlink(id);
  free_copies_.push_back(id);
}

void Residency::link(std::uint32_t id) {
  Copy& copy = copies_[id];
  const auto memory = static_cast<std::uint32_t>(copy.memory.index());
  std::uint32_t& first = first_[copy.buffer.index()];
  copy.next = first;
  if (copy.next != none) copies_[copy.next].previous = id;
  first = id;
  copy.next_here = here_.find(copy.buffer, memory);
  here_.set(copy.buffer, memory, id);
  copy.next_alike = alike_.find(copy.buffer, copy.group);
  if (copy.next_alike != none) copies_[copy.next_alike].previous_alike = id;
  alike_.set(copy.buffer, copy.group, id);
}

void Residency::unlink(std::uint32_t id) {
  const Copy& copy = copies_[id];
  const auto memory = static_cast<std::uint32_t>(copy.memory.index());
  const auto set_first = [&](CopyIndex& index, std::uint32_t where, std::uint32_t first) {
    if (first == none) {
      index.erase(copy.buffer, where);
    } else {
      index.set(copy.buffer, where, first);
    }
  };
  if (copy.next != none) copies_[copy.next].previous = copy.previous;
  (copy.previous == none ? first_[copy.buffer.index()] : copies_[copy.previous].next) = copy.next;
  if (copy.next_alike != none) copies_[copy.next_alike].previous_alike = copy.previous_alike;
  if (copy.previous_alike == none) {
    set_first(alike_, copy.group, copy.next_alike);
  } else {
    copies_[copy.previous_alike].next_alike = copy.next_alike;
  }
  // Few are in one memory.
  std::uint32_t before = here_.find(copy.buffer, memory);
  if (before == id) {
    set_first(here_, memory, copy.next_here);
  } else {
    while (copies_[before].next_here != id) before = copies_[before].next_here;
    copies_[before].next_here = copy.next_here;
  }
}

void Residency::drop(BufferId buffer, std::uint32_t kept) {
  for (std::uint32_t c = first(buffer); c != none;) {
    const std::uint32_t next = copies_[c].next;
    if (c != kept) release(c);
    c = next;
  }
}

Expected<Moment> Residency::make_room(const Placing& now, MemoryId memory, std::int64_t bytes) {
  Room& room = rooms_[memory.index()];
  std::optional<Moment> free = room.find(taken(bytes));
  while (!free || free->at > now.could_start) {
    const std::uint32_t victim = choose_victim(now, memory);
    if (victim == none && free) break;
    if (victim == none) return too_small(now, memory, bytes);
    if (free && !is_worth_evicting(now, copies_[victim], free->at)) break;
    if (!is_clean(copies_[victim])) MONET_RETURN_IF_ERROR(write_back(copies_[victim].buffer));
    release(victim);
    free = room.find(taken(bytes));
  }
  room.hold(taken(bytes));
  return *free;
}

std::optional<Moment> Residency::find_room(MemoryId memory, std::int64_t bytes, double latest) {
  const std::optional<Moment> free = rooms_[memory.index()].find(taken(bytes));
  if (!free || free->at > latest) return std::nullopt;
  rooms_[memory.index()].hold(taken(bytes));
  return free;
}

void Residency::begin_stay(std::uint32_t copy, double start) {
  stays_[copies_[copy].stay].start = start;
  rooms_[copies_[copy].memory.index()].begin(taken(copies_[copy].bytes), start);
}

void Residency::use_workspace(TileId tile, MemoryId memory, std::int64_t bytes, double start, const Moment& end) {
  rooms_[memory.index()].begin(taken(bytes), start);
  rooms_[memory.index()].give_back(taken(bytes), end);
  stays_.push_back({.start = start, .end = end.at, .bytes = bytes, .buffer = {}, .tile = tile, .memory = memory});
}

bool Residency::is_worth_evicting(const Placing& now, const Copy& victim, double free) {
  const MemoryId home = homes_.memory_of(victim.buffer);
  const double bits = 8.0 * static_cast<double>(victim.bytes);
  const auto takes = [&](MemoryId from, MemoryId to) {
    const std::uint32_t route = in_.machine.route(from, to);
    return route == no_route ? never : bits / in_.machine.routes()[route].bits_per_cycle;
  };
  double cycles = victim.readers > 0 ? takes(home, victim.memory) : 0;
  if (!is_clean(victim)) cycles += takes(victim.memory, home);
  return free - std::max(now.could_start, victim.idle.at) > cycles;
}

std::uint32_t Residency::choose_victim(const Placing& now, MemoryId memory) {
  std::uint32_t best = none;
  std::uint64_t best_score = 0;
  for (std::uint32_t id : held_[memory.index()]) {
    const Copy& copy = copies_[id];
    if (copy.pinned == now.tile) continue;
    const std::uint32_t next = copy.readers == 0 && is_clean(copy) ? none : readers_.next(copy.buffer);
    const std::uint64_t when = next == none ? none : rank_[next];
    const std::uint64_t score = when << 1 | (is_clean(copy) ? 1 : 0);
    if (best == none || score > best_score || (score == best_score && id < best)) {
      best = id;
      best_score = score;
    }
  }
  return best;
}

Error Residency::too_small(const Placing& now, MemoryId memory, std::int64_t bytes) const {
  bytes = taken(bytes);
  for (std::uint32_t id : held_[memory.index()]) {
    bytes += copies_[id].pinned == now.tile ? taken(copies_[id].bytes) : 0;
  }
  return {.kind = ErrorKind::infeasible,
          .message = fmt::format("a tile of it needs {} bytes of {}, which has {}", bytes,
                                 in_.machine.hardware()[memory].name, rooms_[memory.index()].capacity()),
          .place = in_.graph[in_.tiles.node[now.tile.index()]].name,
          .advice = "give it smaller tiles, or fewer operators to its stack"};
}

Status Residency::write_back(BufferId buffer) {
  std::uint32_t source = none;
  for (std::uint32_t c = first(buffer); c != none; c = copies_[c].next) {
    if (copies_[c].group == none && (source == none || copies_[c].responsible)) source = c;
  }
  if (source == none) {
    return Error{.kind = ErrorKind::defect,
                 .message = fmt::format("{} is nowhere", in_.graph[in_.tiles.buffers[buffer.index()].tensor].name)};
  }
  Copy& copy = copies_[source];
  MONET_TRY(const Moment there, transfers_.move(buffer, copy.bytes, copy.memory, homes_.memory_of(buffer),
                                                TransferKind::write_back, copy.ready));
  homes_[buffer].since = there;
  copy.keep_until(there);
  copy.responsible = false;
  return Done{};
}

}  // namespace monet::scheduling
