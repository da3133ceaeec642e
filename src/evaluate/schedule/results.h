// What a tile makes, where it finds room, and the workspace that it needs meanwhile.
#pragma once

#include "evaluate/schedule/fetches.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace monet::scheduling {

class Results {
 public:
  // `stays`: where those are written down that are in homes of other data.
  Results(const ScheduleInput& input, const TilePlaces& places, const Readers& readers, Homes& homes,
          Transfers& transfers, Residency& residency, Paging& paging, Fetches& fetches, std::vector<Stay>& stays);

  // Before anything is brought: sums that go on and are there already stay.
  void hold(const Placing& now);
  // When there is room for all, and sums that go on are there.
  Expected<Moment> make_room(const Placing& now);
  // The tile has run: what it made is there.
  Status finish(TileId tile, const ScheduledTile& scheduled);
  // All of a buffer is made.
  Status complete(BufferId buffer);

 private:
  Expected<Moment> continue_sum(const Placing& now, BufferId buffer, MemoryId memory);
  Status write_home(const TileWrite& write, MemoryId written, double start, const Moment& made);

  const ScheduleInput& in_;
  const TilePlaces& places_;
  const Readers& readers_;
  Homes& homes_;
  Transfers& transfers_;
  Residency& residency_;
  Paging& paging_;
  Fetches& fetches_;
  std::vector<Stay>& stays_;
  // Of the tile that is being placed.
  std::vector<std::uint32_t> copies_, fresh_;
  std::vector<std::pair<MemoryId, std::int64_t>> workspaces_;
};

}  // namespace monet::scheduling
