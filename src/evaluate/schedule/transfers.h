// Transfers between memories: each is booked on the channels of its route when it is made, or listens to another.
#pragma once

#include "evaluate/schedule/bookings.h"
#include "evaluate/schedule/homes.h"

#include <cstdint>
#include <vector>

namespace monet::scheduling {

class Transfers {
 public:
  // `made`: where they are written down.
  Transfers(const ScheduleInput& input, Bookings& bookings, Homes& homes, std::vector<ScheduledTransfer>& made);

  // Books a transfer; when its data are there.
  Moment move(BufferId buffer, std::int64_t bytes, MemoryId from, MemoryId to, std::uint32_t route, TransferKind kind,
              const Moment& earliest);
  // The same, along the route that there is.
  Expected<Moment> move(BufferId buffer, std::int64_t bytes, MemoryId from, MemoryId to, TransferKind kind,
                        const Moment& earliest);
  // Another memory receives what `carrier` carries over a bus.
  Moment listen(ScheduledTransfer carrier, MemoryId to, std::uint32_t route, TransferKind kind);
  const ScheduledTransfer& last() const { return made_.back(); }

  // When it would have moved, without booking it.
  double probe(std::uint32_t route, double start, double bits);
  // The route, or where it takes a bus the way beside buses, whichever ends first.
  std::uint32_t sooner(std::uint32_t route, MemoryId from, MemoryId to, double bits, double start);
  // Whether `to` hears what goes along `route`: over the same channels, up to its own port, and as fast.
  bool same_way(std::uint32_t route, std::uint32_t way, MemoryId to) const;
  // A transfer of the same data over a bus that this memory, with room for them, can listen to; null: there is none.
  const ScheduledTransfer* joinable(BufferId buffer, MemoryId memory, MemoryId from, std::uint32_t route,
                                    std::int64_t bytes, const Moment& room) const;

 private:
  std::int64_t whole_pages(std::int64_t bytes, MemoryId from, MemoryId to) const;

  RoutedMachine& machine_;
  const TileGraph& tiles_;
  Bookings& bookings_;
  Homes& homes_;
  std::vector<ScheduledTransfer>& made_;
  struct FullRoute {
    Bookings::Full all, aside;
  };
  FullRoute& full(std::uint32_t route);

  std::vector<FullRoute> full_;          // by route
  std::vector<std::uint32_t> last_on_;   // by channel
  std::vector<std::uint32_t> over_bus_;  // by buffer: the last that carried it over a bus
};

}  // namespace monet::scheduling
