#include "evaluate/schedule/scheduling.h"

#include "base/try.h"

#include <fmt/format.h>

#include <algorithm>

namespace monet::scheduling {

Expected<Moment> Scheduler::move(BufferId buffer, std::int64_t bytes, MemoryId from, MemoryId to, std::uint32_t route,
                                 TransferKind kind, const Moment& earliest) {
  const Route& way = machine_.routes()[route];
  double begin = earliest.at;
  const double bits = 8.0 * static_cast<double>(whole_pages(bytes, from, to));
  // What goes home is booked before the tiles that it would hold up: it leaves the cores their part of their ports.
  const double moved = kind == TransferKind::write_back
                           ? bookings_.book_aside(way.channels, earliest.at, bits, way.bits_per_cycle, &begin)
                           : bookings_.book(way.channels, earliest.at, bits, way.bits_per_cycle, &begin);
  const double end = moved + way.latency_cycles;
  const auto id = static_cast<std::uint32_t>(out_.transfers.size());
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
    if (last == none || out_.transfers[last].end <= free || out_.transfers[last].end > begin * (1 + 1e-12)) continue;
    free = out_.transfers[last].end;
    transfer.wait = Wait::transfer;
    transfer.by = last;
  }
  for (const ChannelUse& use : way.channels) last_on_[use.channel] = id;
  out_.transfers.push_back(transfer);
  if (machine_.has_bus(route)) buffers_[buffer.index()].bus_transfer = id;
  TensorState& tensor = tensor_of(buffer);
  if (to == tensor.home) {
    tensor.start = std::min(tensor.start, begin);
    tensor.end = std::max(tensor.end, end);
  }
  if (from == tensor.home) tensor.end = std::max(tensor.end, end);
  return Moment{end, Wait::transfer, id};
}

std::int64_t Scheduler::whole_pages(std::int64_t bytes, MemoryId from, MemoryId to) const {
  const std::int64_t page = std::max(hardware_[from].page_bits, hardware_[to].page_bits) / 8;
  return page <= 1 ? bytes : (bytes + page - 1) / page * page;
}

Status Scheduler::write_back(BufferId buffer) {
  BufferState& state = buffers_[buffer.index()];
  std::uint32_t source = none;
  for (std::uint32_t c = state.copies; c != none; c = copies_[c].next) {
    if (copies_[c].group == none && (source == none || copies_[c].responsible)) source = c;
  }
  if (source == none) {
    return Error{.kind = ErrorKind::defect,
                 .message = fmt::format("{} is nowhere", graph_[tiles_.buffers[buffer.index()].tensor].name)};
  }
  const MemoryId home = tensor_of(buffer).home;
  MONET_TRY(const std::uint32_t route, machine_.needed_route(copies_[source].memory, home));
  MONET_TRY(state.home, move(buffer, copies_[source].bytes, copies_[source].memory, home, route,
                             TransferKind::write_back, copies_[source].ready));
  keep_until(copies_[source], state.home);
  copies_[source].responsible = false;
  return Done{};
}

}  // namespace monet::scheduling
