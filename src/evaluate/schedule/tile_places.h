// Where tiles run, read and write, as the plan says.
#pragma once

#include "evaluate/schedule/scheduler.h"

#include <cstdint>
#include <vector>

namespace monet::scheduling {

class TilePlaces {
 public:
  explicit TilePlaces(const ScheduleInput& input);

  CoreId core_of(TileId tile) const { return core_[tile.index()]; }
  // A number for what the tiles of a piece of its operator's split read of a buffer, the same for pieces that read the
  // same of it.
  std::uint32_t group_of(TileId tile, const ReadPart& part) const;
  // Whether other pieces may read the same.
  bool is_common(TileId tile, const ReadPart& part) const {
    return (split_axes_[tiles_.node[tile.index()].index()] & ~part.axes) != 0;
  }
  const TileCost& cost(TileId tile) const { return in_.costs[in_.cost_of[tile.index()]]; }
  std::size_t path_of(TileId tile, const TileRead& read) const {
    return static_cast<std::size_t>(in_.costs.path_of(tiles_.node[tile.index()], tiles_.part(read).input));
  }
  bool streams(TileId tile, std::size_t path) const { return (in_.streamed[tile.index()] >> path & 1U) != 0; }
  bool streams(TileId tile, const TileRead& read) const { return streams(tile, path_of(tile, read)); }
  bool streams_out(TileId tile) const { return streams(tile, static_cast<std::size_t>(Path::output)); }
  MemoryId memory_for(TileId tile, const TileRead& read) const { return memory_for(tile, path_of(tile, read)); }
  MemoryId output_memory(TileId tile) const { return memory_for(tile, static_cast<std::size_t>(Path::output)); }
  // The memory of a level of the tile's core.
  MemoryId level_of(TileId tile, std::size_t level) const {
    return machine_.hardware()[core_of(tile)].levels[level].memory;
  }

 private:
  MemoryId memory_for(TileId tile, std::size_t path) const {
    const CorePlaces& places = machine_[core_of(tile)];
    return streams(tile, path) ? places.home[path] : places.local[path];
  }

  const ScheduleInput& in_;
  const TileGraph& tiles_;
  const RoutedMachine& machine_;
  std::vector<CoreId> core_;
  std::vector<std::uint32_t> piece_;       // by tile: of its operator's split, a number of its own
  std::vector<std::uint32_t> split_axes_;  // by node: axes of its grid with more than one piece, a bit each
};

}  // namespace monet::scheduling
