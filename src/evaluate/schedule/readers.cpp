#include "evaluate/schedule/readers.h"

namespace monet::scheduling {

Readers::Readers(const Graph& graph, const TileGraph& tiles, const TilePlaces& places)
    : first_(tiles.buffers.size() + 1, 0),
      tile_(tiles.reads.size()),
      into_(tiles.reads.size()),
      placed_(tiles.tiles(), false),
      left_(tiles.buffers.size()) {
  for (const TileRead& read : tiles.reads) ++first_[read.buffer.index() + 1];
  for (std::size_t b = 0; b < tiles.buffers.size(); ++b) first_[b + 1] += first_[b];
  next_.assign(first_.begin(), first_.end() - 1);
  for (std::size_t t = 0; t < tiles.tiles(); ++t) {
    const bool forward = graph[tiles.node[t]].phase == Phase::forward;
    for (const TileRead& read : tiles.reads_of(TileId(t))) {
      const std::size_t b = read.buffer.index();
      const ReadPart& part = tiles.part(read);
      const bool streams = places.streams(TileId(t), read);
      into_[next_[b]] = {.memory = streams ? MemoryId() : places.memory_for(TileId(t), read),
                         .group = streams ? none : places.group_of(TileId(t), part),
                         .input = part.input};
      tile_[next_[b]++] = static_cast<std::uint32_t>(t);
      ++left_[b].all;
      if (forward) ++left_[b].in_forward;
    }
  }
  next_.assign(first_.begin(), first_.end() - 1);
}

std::uint32_t Readers::to_come_in(BufferId buffer, MemoryId memory, std::uint32_t group, std::uint8_t input) {
  std::uint32_t count = 0;
  for (std::uint32_t i = first_to_come(buffer); i < first_[buffer.index() + 1]; ++i) {
    if (into_[i].memory != memory || placed_[tile_[i]]) continue;
    if (group == none || (into_[i].input == input && into_[i].group == group)) ++count;
  }
  return count;
}

bool Readers::all_in(BufferId buffer, MemoryId memory) const {
  for (std::uint32_t i = first_[buffer.index()]; i < first_[buffer.index() + 1]; ++i) {
    if (!into_[i].memory.valid() || (memory.valid() && into_[i].memory != memory)) return false;
  }
  return true;
}

}  // namespace monet::scheduling
