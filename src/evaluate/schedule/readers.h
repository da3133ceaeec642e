// The tiles that read each buffer, in the order of their numbers, and how many of them are still to be placed.
#pragma once

#include "evaluate/schedule/moment.h"
#include "evaluate/schedule/tile_places.h"

#include <cstdint>
#include <span>
#include <vector>

namespace monet::scheduling {

class Readers {
 public:
  Readers(const Graph& graph, const TileGraph& tiles, const TilePlaces& places);

  // A tile is among them as often as it reads the buffer.
  std::span<const std::uint32_t> of(BufferId buffer) const {
    return std::span(tile_).subspan(first_[buffer.index()], first_[buffer.index() + 1] - first_[buffer.index()]);
  }
  // The first that is not placed; none: all are.
  std::uint32_t next(BufferId buffer) {
    const std::uint32_t first = first_to_come(buffer);
    return first < first_[buffer.index() + 1] ? tile_[first] : none;
  }
  // Those from it on.
  std::span<const std::uint32_t> to_come(BufferId buffer) {
    const std::uint32_t first = first_to_come(buffer);
    return std::span(tile_).subspan(first, first_[buffer.index() + 1] - first);
  }
  // Tiles still to be placed that will read the buffer (the group's part of it) in that memory.
  std::uint32_t to_come_in(BufferId buffer, MemoryId memory, std::uint32_t group, std::uint8_t input);
  // None of them streams it, and all read it in that memory (in any, if it is not valid).
  bool all_in(BufferId buffer, MemoryId memory) const;

  bool is_placed(TileId tile) const { return placed_[tile.index()]; }
  void set_placed(TileId tile) { placed_[tile.index()] = true; }

  // Reads that are not done.
  std::uint32_t left(BufferId buffer) const { return left_[buffer.index()].all; }
  std::uint32_t left_in_forward(BufferId buffer) const { return left_[buffer.index()].in_forward; }
  void finish_read(BufferId buffer, Phase phase) {
    --left_[buffer.index()].all;
    if (phase == Phase::forward) --left_[buffer.index()].in_forward;
  }

 private:
  std::uint32_t first_to_come(BufferId buffer) {
    std::uint32_t& next = next_[buffer.index()];
    while (next < first_[buffer.index() + 1] && placed_[tile_[next]]) ++next;
    return next;
  }

  struct Into {
    MemoryId memory;  // of the core; not valid: it streams
    std::uint32_t group = none;
    std::uint8_t input = 0;
  };
  struct Left {
    std::uint32_t all = 0, in_forward = 0;
  };
  std::vector<std::uint32_t> first_, next_;  // by buffer: in tile_
  std::vector<std::uint32_t> tile_;
  std::vector<Into> into_;  // as tile_
  std::vector<bool> placed_;
  std::vector<Left> left_;  // by buffer
};

}  // namespace monet::scheduling
