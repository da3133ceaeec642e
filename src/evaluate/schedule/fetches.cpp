#include "evaluate/schedule/fetches.h"

#include "base/try.h"

#include <algorithm>

namespace monet::scheduling {

Fetches::Fetches(const ScheduleInput& input, const TilePlaces& places, Readers& readers, Homes& homes,
                 Transfers& transfers, Residency& residency, Paging& paging, std::vector<Stay>& stays)
    : in_(input),
      machine_(input.machine),
      places_(places),
      listeners_(input.tiles, places, readers),
      homes_(homes),
      transfers_(transfers),
      residency_(residency),
      paging_(paging),
      stays_(stays) {}

Expected<std::uint32_t> Fetches::fetch(const Placing& now, BufferId buffer, MemoryId memory, std::int64_t bytes,
                                       std::uint32_t group, std::uint8_t input) {
  paging_.page_in_if_out(buffer, now.previous_start);
  const Wanted wanted{.buffer = buffer, .bytes = bytes, .group = group, .input = input};
  MONET_TRY(Source source, find_source(wanted, memory));
  const bool from_core = source.copy != none;
  // Copies may be evicted now, but not the source.
  const TileId source_pin = from_core ? std::exchange(residency_[source.copy].pinned, now.tile) : TileId();
  // Room that is there only when the core could start would keep it waiting for the transfer.
  Placing soon = now;
  const MemoryId from = from_core ? residency_[source.copy].memory : homes_.memory_of(buffer);
  const double takes = machine_.least_cycles(from, memory, 8.0 * static_cast<double>(bytes));
  soon.could_start = std::max(std::min(now.previous_start, now.could_start), now.could_start - takes);
  MONET_TRY(const Moment room, residency_.make_room(soon, memory, bytes));
  if (from_core) residency_[source.copy].pinned = source_pin;
  const Moment there = from_core ? residency_[source.copy].ready : homes_[buffer].since;
  const TransferKind kind = from_core ? TransferKind::core_to_core : TransferKind::fetch;
  const std::uint32_t copy = residency_.add(now, buffer, memory, bytes, group, input);
  const auto comes = [&](std::uint32_t id, double start, const Moment& ready) {
    residency_[id].ready = residency_[id].idle = ready;
    residency_.begin_stay(id, start);
  };
  if (const auto* other = transfers_.joinable(buffer, memory, from, source.route, bytes, room); other != nullptr) {
    const double start = other->start;
    comes(copy, start, transfers_.listen(*other, memory, source.route, kind));
    return copy;
  }
  Moment earliest = later(there, room);
  listening_.clear();
  find_listeners(now, wanted, memory, from, source.route, earliest);
  // Nobody listens to the bus: links beside it may be free sooner.
  if (from_core && listening_.empty()) {
    source.route = transfers_.sooner(source.route, from, memory, 8.0 * static_cast<double>(bytes), earliest.at);
  }
  const Moment ready = transfers_.move(buffer, bytes, from, memory, source.route, kind, earliest);
  const ScheduledTransfer carrier = transfers_.last();
  comes(copy, carrier.start, ready);
  for (const auto& [listener, route] : listening_) {
    comes(listener, carrier.start, transfers_.listen(carrier, residency_[listener].memory, route, kind));
  }
  if (from_core) residency_[source.copy].keep_until(ready);
  return copy;
}

Expected<Fetches::Source> Fetches::find_source(const Wanted& wanted, MemoryId memory) {
  const BufferId buffer = wanted.buffer;
  const double bits = 8.0 * static_cast<double>(wanted.bytes);
  const Source sender = find_sender(wanted, memory);
  if (sender.copy == none && !homes_.has(buffer)) MONET_RETURN_IF_ERROR(residency_.write_back(buffer));
  if (!homes_.has(buffer)) return sender;
  const MemoryId home = homes_.memory_of(buffer);
  if (sender.copy == none) {
    MONET_TRY(const std::uint32_t route, machine_.needed_route(home, memory));
    return Source{.route = route};
  }
  // The one that is free first.
  const std::uint32_t route = machine_.route(home, memory);
  if (route == no_route) return sender;
  const double from_home = transfers_.probe(route, homes_[buffer].since.at, bits);
  const double from_core = transfers_.probe(sender.route, residency_[sender.copy].ready.at, bits);
  return from_home <= from_core ? Source{.route = route} : sender;
}

Fetches::Source Fetches::find_sender(const Wanted& wanted, MemoryId memory) {
  if (in_.assignment.transfers != PlanTransfers::direct) return {};
  const BufferId buffer = wanted.buffer;
  const double bits = 8.0 * static_cast<double>(wanted.bytes);
  const auto can_send = [&](const Copy& copy) { return copy.memory != memory && copy.has(wanted.group, wanted.input); };
  const auto end_of = [&](const Copy& copy) {
    return copy.ready.at + machine_.least_cycles(copy.memory, memory, bits);
  };
  std::uint32_t best = none, last = none;
  double best_end = never;
  // Of the part and of the whole, the latest first.
  std::uint32_t part = wanted.group == none ? none : residency_.first_alike(buffer, wanted.group);
  std::uint32_t whole = residency_.first_alike(buffer, none);
  while (part != none || whole != none) {
    const bool from_part = whole == none || (part != none && residency_.is_older(whole, part));
    std::uint32_t& at = from_part ? part : whole;
    const std::uint32_t c = at;
    const Copy& copy = residency_[c];
    at = copy.next_alike;
    if (!can_send(copy)) continue;
    if (last == none) {
      best = last = c;  // the only one is taken as it is
      continue;
    }
    if (last == best) best_end = end_of(residency_[best]);
    last = c;
    if (copy.ready.at >= best_end) continue;
    const double end = end_of(copy);
    if (end < best_end) {
      best = c;
      best_end = end;
    }
  }
  if (best != last && best_end == never) best = last;
  if (best == none) return {};
  const std::uint32_t route = machine_.route(residency_[best].memory, memory);
  return route == no_route ? Source{} : Source{.copy = best, .route = route};
}

void Fetches::find_listeners(const Placing& now, const Wanted& wanted, MemoryId memory, MemoryId from,
                             std::uint32_t route, Moment& earliest) {
  if (!machine_.has_bus(route)) return;
  const BufferId buffer = wanted.buffer;
  const std::int64_t bytes = wanted.bytes;
  const auto is_common = [&](const TileRead& read) {
    const ReadPart& part = in_.tiles.part(read);
    return read.buffer == buffer && part.input == wanted.input && places_.is_common(now.tile, part);
  };
  if (wanted.group != none && std::ranges::none_of(in_.tiles.reads_of(now.tile), is_common)) return;
  const double latest = earliest.at + 8.0 * static_cast<double>(bytes) / machine_.routes()[route].bits_per_cycle;
  for (const Listener& other : listeners_.of(now.tile, buffer, wanted.group, wanted.input, memory)) {
    if (residency_.find(buffer, other.memory, wanted.group, wanted.input) != none) continue;
    const std::uint32_t way = machine_.route(from, other.memory);
    if (way == no_route || !machine_.has_bus(way) || !transfers_.same_way(route, way, other.memory)) continue;
    const std::optional<Moment> free = residency_.find_room(other.memory, bytes, latest);
    if (!free) continue;
    earliest = later(earliest, *free);
    const std::uint32_t copy = residency_.add(now, buffer, other.memory, bytes, wanted.group, wanted.input);
    residency_[copy].pinned = {};
    listening_.emplace_back(copy, way);
  }
}

Expected<Moment> Fetches::at_home(const Placing& now, BufferId buffer, std::int64_t bytes, MemoryId memory) {
  paging_.page_in_if_out(buffer, now.previous_start);
  if (!homes_.has(buffer)) MONET_RETURN_IF_ERROR(residency_.write_back(buffer));
  return visit(buffer, bytes, memory);
}

Expected<Moment> Fetches::visit(BufferId buffer, std::int64_t bytes, MemoryId memory) {
  const MemoryId home = homes_.memory_of(buffer);
  if (memory == home) return homes_[buffer].since;
  MONET_TRY(const Moment there,
            transfers_.move(buffer, bytes, home, memory, TransferKind::fetch, homes_[buffer].since));
  visits_.push_back(
      {.start = transfers_.last().start, .end = never, .bytes = bytes, .buffer = buffer, .tile = {}, .memory = memory});
  return there;
}

bool Fetches::end_visit(BufferId buffer, double end) {
  const auto visit = std::ranges::find(visits_, buffer, &Stay::buffer);
  if (visit == visits_.end()) return false;
  visit->end = end;
  return true;
}

void Fetches::end_visits(double end) {
  for (Stay& stay : visits_) {
    stay.end = stay.end == never ? end : stay.end;
    stays_.push_back(stay);
  }
  visits_.clear();
}

}  // namespace monet::scheduling
