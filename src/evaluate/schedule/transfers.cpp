#include "evaluate/schedule/transfers.h"

#include "base/try.h"

#include <algorithm>

namespace monet::scheduling {

Transfers::Transfers(const ScheduleInput& input, Bookings& bookings, Homes& homes, std::vector<ScheduledTransfer>& made)
    : machine_(input.machine),
      tiles_(input.tiles),
      bookings_(bookings),
      homes_(homes),
      made_(made),
      last_on_(input.machine.channels().size(), none),
      over_bus_(input.tiles.buffers.size(), none) {}

Moment Transfers::move(BufferId buffer, std::int64_t bytes, MemoryId from, MemoryId to, std::uint32_t route,
                       TransferKind kind, const Moment& earliest) {
  const Route& way = machine_.routes()[route];
  double begin = earliest.at;
  const double bits = 8.0 * static_cast<double>(whole_pages(bytes, from, to));
  // What goes home is booked before the tiles that it would hold up: it leaves the cores their part of their ports.
  const double moved =
      kind == TransferKind::write_back
          ? bookings_.book_aside(way.channels, earliest.at, bits, way.bits_per_cycle, &begin, &full(route).aside)
          : bookings_.book(way.channels, earliest.at, bits, way.bits_per_cycle, &begin, &full(route).all);
  const double end = moved + way.latency_cycles;
  const auto id = static_cast<std::uint32_t>(made_.size());
  ScheduledTransfer transfer{.start = begin,
                             .end = end,
                             .bytes = bytes,
                             .buffer = buffer,
                             .from = from,
                             .to = to,
                             .route = route,
                             .kind = kind,
                             .joined = false,
                             .wait = earliest.wait,
                             .by = earliest.by};
  // The channel that became free last is the one it waited for.
  double free = earliest.at;
  for (const ChannelUse& use : way.channels) {
    const std::uint32_t last = begin > earliest.at ? last_on_[use.channel] : none;
    if (last == none || made_[last].end <= free || made_[last].end > begin * (1 + 1e-12)) continue;
    free = made_[last].end;
    transfer.wait = Wait::transfer;
    transfer.by = last;
  }
  for (const ChannelUse& use : way.channels) last_on_[use.channel] = id;
  made_.push_back(transfer);
  if (machine_.has_bus(route)) over_bus_[buffer.index()] = id;
  TensorAtHome& tensor = homes_.tensor_of(buffer);
  if (to == tensor.memory) tensor.use(begin, end);
  if (from == tensor.memory) tensor.end = std::max(tensor.end, end);
  return Moment{end, Wait::transfer, id};
}

Expected<Moment> Transfers::move(BufferId buffer, std::int64_t bytes, MemoryId from, MemoryId to, TransferKind kind,
                                 const Moment& earliest) {
  MONET_TRY(const std::uint32_t route, machine_.needed_route(from, to));
  return move(buffer, bytes, from, to, route, kind, earliest);
}

Moment Transfers::listen(ScheduledTransfer carrier, MemoryId to, std::uint32_t route, TransferKind kind) {
  const auto id = static_cast<std::uint32_t>(made_.size());
  carrier.to = to;
  carrier.route = route;
  carrier.kind = kind;
  carrier.joined = true;
  made_.push_back(carrier);
  return {carrier.end, Wait::transfer, id};
}

Transfers::FullRoute& Transfers::full(std::uint32_t route) {
  if (route >= full_.size()) full_.resize(route + 1);
  return full_[route];
}

double Transfers::probe(std::uint32_t route, double start, double bits) {
  const Route& way = machine_.routes()[route];
  return bookings_.probe(way.channels, start, bits, way.bits_per_cycle, &full(route).all);
}

std::uint32_t Transfers::sooner(std::uint32_t route, MemoryId from, MemoryId to, double bits, double start) {
  if (!machine_.has_bus(route)) return route;
  const std::uint32_t detour = machine_.detour(from, to);
  if (detour == no_route) return route;
  const auto end = [&](std::uint32_t along) {
    return probe(along, start, bits) + machine_.routes()[along].latency_cycles;
  };
  return end(detour) < end(route) ? detour : route;
}

bool Transfers::same_way(std::uint32_t route, std::uint32_t way, MemoryId to) const {
  const Route& heard = machine_.routes()[route];
  const Route& own = machine_.routes()[way];
  if (own.bits_per_cycle < heard.bits_per_cycle || own.latency_cycles > heard.latency_cycles) return false;
  return std::ranges::all_of(own.channels, [&](const ChannelUse& use) {
    return machine_.channels()[use.channel].memory == to ||
           std::ranges::find(heard.channels, use.channel, &ChannelUse::channel) != heard.channels.end();
  });
}

const ScheduledTransfer* Transfers::joinable(BufferId buffer, MemoryId memory, MemoryId from, std::uint32_t route,
                                             std::int64_t bytes, const Moment& room) const {
  const std::uint32_t id = over_bus_[buffer.index()];
  if (id == none) return nullptr;
  const ScheduledTransfer& transfer = made_[id];
  if (transfer.from != from || transfer.bytes != bytes || transfer.to == memory || room.at > transfer.start ||
      tiles_.buffers[buffer.index()].bytes != bytes || !machine_.has_bus(route)) {
    return nullptr;
  }
  return same_way(transfer.route, route, memory) ? &transfer : nullptr;
}

std::int64_t Transfers::whole_pages(std::int64_t bytes, MemoryId from, MemoryId to) const {
  const Hardware& hardware = machine_.hardware();
  const std::int64_t page = std::max(hardware[from].page_bits, hardware[to].page_bits) / 8;
  return page <= 1 ? bytes : (bytes + page - 1) / page * page;
}

}  // namespace monet::scheduling
