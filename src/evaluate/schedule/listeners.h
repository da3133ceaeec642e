// Which tiles of an operator will want the same part of a buffer in other memories: they can take it along from a bus.
#pragma once

#include "evaluate/schedule/readers.h"

#include <cstdint>
#include <span>
#include <vector>

namespace monet::scheduling {

struct Listener {
  TileId tile;
  MemoryId memory;
};

class Listeners {
 public:
  Listeners(const TileGraph& tiles, const TilePlaces& places, Readers& readers);

  // Of the operator of `tile`, if it is the next to read the buffer: for each memory but `memory`, the first other tile
  // still to be placed that reads the whole buffer there (group: none), or that part of it. In the order of tiles.
  std::span<const Listener> of(TileId tile, BufferId buffer, std::uint32_t group, std::uint8_t input, MemoryId memory);

 private:
  struct Read {
    std::uint32_t group = none;
    std::uint8_t input = 0;
    MemoryId memory;
    std::uint32_t tile = 0, number = 0;  // among the reads of the tile
  };
  // Those of one part in one memory.
  struct Stretch {
    std::uint32_t first = 0, end = 0;  // in Run::reads; those before the first are placed
  };
  // Of a buffer, by the operator that is reading it. Operators do so one after the other: one run a buffer is enough.
  struct Run {
    NodeId node;
    std::vector<Read> reads;         // by part, then memory, then tile
    std::vector<Stretch> stretches;  // in that order
  };
  void fill(Run& run, NodeId node, BufferId buffer) const;
  // Placed tiles at its beginning are left behind for good.
  const Read* first_to_come(const Run& run, Stretch& stretch, TileId but) const;

  const TileGraph& tiles_;
  const TilePlaces& places_;
  Readers& readers_;
  std::vector<std::uint32_t> run_of_;  // by buffer
  std::vector<Run> runs_;
  std::vector<const Read*> found_;
  std::vector<Listener> listeners_;
};

}  // namespace monet::scheduling
