#include "evaluate/schedule/scheduling.h"

#include "base/try.h"

#include <fmt/format.h>

#include <algorithm>

namespace monet::scheduling {

std::uint32_t Scheduler::add_copy(BufferId buffer, MemoryId memory, std::int64_t bytes, std::uint32_t group,
                                  std::uint8_t input) {
  std::uint32_t id = none;
  if (!free_copies_.empty()) {
    id = free_copies_.back();
    free_copies_.pop_back();
  } else {
    id = static_cast<std::uint32_t>(copies_.size());
    copies_.emplace_back();
  }
  Copy& copy = copies_[id];
  copy = Copy{.memory = memory, .group = group, .input = input, .buffer = buffer, .pinned = pin_, .bytes = bytes};
  copy.readers = readers_.to_come_in(buffer, memory, group, input);
  copy.next = buffers_[buffer.index()].copies;
  buffers_[buffer.index()].copies = id;
  copy.place = static_cast<std::uint32_t>(held_[memory.index()].size());
  held_[memory.index()].push_back(id);
  copy.stay = static_cast<std::uint32_t>(out_.stays.size());
  out_.stays.push_back({.start = 0, .end = never, .bytes = bytes, .buffer = buffer, .tile = {}, .memory = memory});
  return id;
}

void Scheduler::release(std::uint32_t id, const Moment& at) {
  Copy& copy = copies_[id];
  Stay& stay = out_.stays[copy.stay];
  stay.end = std::max(at.at, stay.start);
  rooms_[copy.memory.index()].give_back(copy.bytes, {stay.end, at.wait, at.by});
  auto& held = held_[copy.memory.index()];
  copies_[held.back()].place = copy.place;
  held[copy.place] = held.back();
  held.pop_back();
  std::uint32_t* link = &buffers_[copy.buffer.index()].copies;
  while (*link != id) link = &copies_[*link].next;
  *link = copy.next;
  free_copies_.push_back(id);
}

Expected<Moment> Scheduler::make_room(TileId tile, MemoryId memory, std::int64_t bytes) {
  Room& room = rooms_[memory.index()];
  std::optional<Moment> free = room.find(bytes);
  while (!free || free->at > could_start_) {
    const std::uint32_t victim = choose_victim(memory);
    if (victim == none && free) break;
    if (victim == none) return too_small(tile, memory, bytes);
    if (free && !is_worth_evicting(victim, free->at)) break;
    const BufferId buffer = copies_[victim].buffer;
    if (copies_[victim].responsible && buffers_[buffer.index()].home.at == never)
      MONET_RETURN_IF_ERROR(write_back(buffer));
    release(victim, copies_[victim].idle);
    free = room.find(bytes);
  }
  room.hold(bytes);
  return *free;
}

bool Scheduler::is_worth_evicting(std::uint32_t victim, double free) {
  const Copy& copy = copies_[victim];
  const MemoryId home = tensor_of(copy.buffer).home;
  const double bits = 8.0 * static_cast<double>(copy.bytes);
  const bool clean = !copy.responsible || buffers_[copy.buffer.index()].home.at < never;
  const auto takes = [&](std::uint32_t route) {
    return route == no_route ? never : bits / machine_.routes()[route].bits_per_cycle;
  };
  double cycles = copy.readers > 0 ? takes(machine_.route(home, copy.memory)) : 0;
  if (!clean) cycles += takes(machine_.route(copy.memory, home));
  return free - std::max(could_start_, copy.idle.at) > cycles;
}

std::uint32_t Scheduler::choose_victim(MemoryId memory) {
  std::uint32_t best = none;
  std::uint64_t best_score = 0;
  for (std::uint32_t id : held_[memory.index()]) {
    const Copy& copy = copies_[id];
    if (copy.pinned == pin_) continue;
    const auto readers = readers_.to_come(copy.buffer);
    const std::uint64_t when = copy.readers == 0 || readers.empty() ? 0xffffffffULL : rank_[readers.front()];
    const bool clean = !copy.responsible || buffers_[copy.buffer.index()].home.at < never;
    const std::uint64_t score = when << 1 | (clean ? 1 : 0);
    if (best == none || score > best_score || (score == best_score && id < best)) {
      best = id;
      best_score = score;
    }
  }
  return best;
}

std::int64_t Scheduler::pinned_in(MemoryId memory) const {
  std::int64_t used = 0;
  for (std::uint32_t id : held_[memory.index()]) used += copies_[id].pinned == pin_ ? copies_[id].bytes : 0;
  return used;
}

void Scheduler::begin_stay(std::uint32_t copy, double start) {
  out_.stays[copies_[copy].stay].start = start;
  rooms_[copies_[copy].memory.index()].begin(copies_[copy].bytes, start);
}

Error Scheduler::too_small(TileId tile, MemoryId memory, std::int64_t bytes) const {
  const std::int64_t used = pinned_in(memory);
  return {.kind = ErrorKind::infeasible,
          .message = fmt::format("a tile of it needs {} bytes of {}, which has {}", used + bytes,
                                 hardware_[memory].name, rooms_[memory.index()].capacity()),
          .place = graph_[tiles_.node[tile.index()]].name,
          .advice = "give it smaller tiles, or fewer operators to its stack"};
}

void Scheduler::drop(BufferId buffer) {
  while (buffers_[buffer.index()].copies != none) {
    const std::uint32_t copy = buffers_[buffer.index()].copies;
    release(copy, copies_[copy].idle);
  }
}

}  // namespace monet::scheduling
