// Brings buffers to where a tile wants them: from home, or from the core that could send them first.
#pragma once

#include "evaluate/schedule/listeners.h"
#include "evaluate/schedule/paging.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace monet::scheduling {

class Fetches {
 public:
  // `stays`: where those are written down that end with the tile.
  Fetches(const ScheduleInput& input, const TilePlaces& places, Readers& readers, Homes& homes, Transfers& transfers,
          Residency& residency, Paging& paging, std::vector<Stay>& stays);

  // A new copy, of the whole buffer or of the group's part of it.
  Expected<std::uint32_t> fetch(const Placing& now, BufferId buffer, MemoryId memory, std::int64_t bytes,
                                std::uint32_t group = none, std::uint8_t input = 0);
  // For what streams: from when on it is in that home memory.
  Expected<Moment> at_home(const Placing& now, BufferId buffer, std::int64_t bytes, MemoryId memory);
  // The same for what is at home: if it has its place in another one, it comes over for one tile.
  Expected<Moment> visit(BufferId buffer, std::int64_t bytes, MemoryId memory);
  // It was changed, and has gone back by then; false: it did not visit.
  bool end_visit(BufferId buffer, double end);
  // The tile is done.
  void end_visits(double end);

 private:
  struct Source {
    std::uint32_t copy = none;  // none: it comes from home
    std::uint32_t route = no_route;
  };
  // A buffer, or the group's part of it.
  struct Wanted {
    BufferId buffer;
    std::int64_t bytes = 0;
    std::uint32_t group = none;
    std::uint8_t input = 0;
  };
  Expected<Source> find_source(const Wanted& wanted, MemoryId memory);
  // The core that could send it first.
  Source find_sender(const Wanted& wanted, MemoryId memory);
  // Memories of other cores that the same operator will want it in, and that can listen to a bus on the way: they take
  // it along, if there is room for it there before another transfer would have brought it.
  void find_listeners(const Placing& now, const Wanted& wanted, MemoryId memory, MemoryId from, std::uint32_t route,
                      Moment& earliest);

  const ScheduleInput& in_;
  RoutedMachine& machine_;
  const TilePlaces& places_;
  Listeners listeners_;
  Homes& homes_;
  Transfers& transfers_;
  Residency& residency_;
  Paging& paging_;
  std::vector<Stay>& stays_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> listening_;  // copies, and the routes to them
  std::vector<Stay> visits_;                                        // of the tile that is being placed
};

}  // namespace monet::scheduling
