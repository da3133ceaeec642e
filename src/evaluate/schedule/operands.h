// What a tile reads: held fast where it is, brought where it is not.
#pragma once

#include "evaluate/schedule/fetches.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace monet::scheduling {

class Operands {
 public:
  Operands(const ScheduleInput& input, const TilePlaces& places, Readers& readers, Homes& homes, Residency& residency,
           Paging& paging, Fetches& fetches);

  // Before anything is brought: what is there already stays.
  void hold(const Placing& now);
  // When all of them are there.
  Expected<Moment> bring(const Placing& now);
  // They are in use until the tile ends.
  void use_until(const Moment& end);
  // The tile has read them: what nobody reads any more is gone.
  void finish(TileId tile, const Moment& end);

 private:
  // The whole buffer, or the part of it that the tile reads, where it reads it; none: it is not there.
  std::uint32_t find(TileId tile, const TileRead& read) const {
    const MemoryId memory = places_.memory_for(tile, read);
    for (std::uint32_t c = residency_.first(read.buffer, memory); c != none; c = residency_[c].next_here) {
      const Copy& copy = residency_[c];
      if (only_parts_ && copy.bytes > tiles_.part(read).group_bytes) continue;
      if (copy.group == none) return c;
      const ReadPart& part = tiles_.part(read);
      if (copy.input == part.input && copy.group == places_.group_of(tile, part)) return c;
    }
    return none;
  }
  Expected<Moment> in_core(const Placing& now, const TileRead& read);
  // A buffer is there as a whole, and the tile and those beside it read a part.
  bool has_more_than_it_needs(TileId tile) const;
  // Beside what it has as a whole.
  bool has_room_for_all(TileId tile);

  const Graph& graph_;
  const TileGraph& tiles_;
  const TilePlaces& places_;
  Readers& readers_;
  Homes& homes_;
  Residency& residency_;
  Paging& paging_;
  Fetches& fetches_;
  // Of the tile that is being placed.
  bool only_parts_ = false;  // there is no room for whole buffers of which it reads a part
  std::vector<std::uint32_t> used_;
  std::vector<std::pair<MemoryId, std::int64_t>> needs_;
};

}  // namespace monet::scheduling
