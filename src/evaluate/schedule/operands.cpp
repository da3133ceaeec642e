#include "evaluate/schedule/operands.h"

#include "base/try.h"

#include <algorithm>

namespace monet::scheduling {

Operands::Operands(const ScheduleInput& input, const TilePlaces& places, Readers& readers, Homes& homes,
                   Residency& residency, Paging& paging, Fetches& fetches)
    : graph_(input.graph),
      tiles_(input.tiles),
      places_(places),
      readers_(readers),
      homes_(homes),
      residency_(residency),
      paging_(paging),
      fetches_(fetches) {}

void Operands::hold(const Placing& now) {
  only_parts_ = false;
  only_parts_ = has_more_than_it_needs(now.tile) && !has_room_for_all(now.tile);
  for (const TileRead& read : tiles_.reads_of(now.tile)) {
    if (places_.streams(now.tile, read)) continue;
    if (const std::uint32_t copy = find(now.tile, read); copy != none) residency_[copy].pinned = now.tile;
  }
}

Expected<Moment> Operands::bring(const Placing& now) {
  Moment all;
  used_.clear();
  for (const TileRead& read : tiles_.reads_of(now.tile)) {
    MONET_TRY(const Moment ready,
              places_.streams(now.tile, read)
                  ? fetches_.at_home(now, read.buffer, tiles_.part(read).bytes, places_.memory_for(now.tile, read))
                  : in_core(now, read));
    all = later(all, ready);
  }
  return all;
}

Expected<Moment> Operands::in_core(const Placing& now, const TileRead& read) {
  const ReadPart& part = tiles_.part(read);
  const std::int64_t bytes = tiles_.buffers[read.buffer.index()].bytes;
  std::uint32_t copy = find(now.tile, read);
  if (copy == none) {
    const std::uint32_t group = part.group_bytes >= bytes ? none : places_.group_of(now.tile, part);
    MONET_TRY(copy, fetches_.fetch(now, read.buffer, places_.memory_for(now.tile, read),
                                   std::min(bytes, part.group_bytes), group, part.input));
  }
  residency_[copy].pinned = now.tile;
  used_.push_back(copy);
  return residency_[copy].ready;
}

bool Operands::has_more_than_it_needs(TileId tile) const {
  return std::ranges::any_of(tiles_.reads_of(tile), [&](const TileRead& read) {
    if (places_.streams(tile, read)) return false;
    const std::uint32_t copy = find(tile, read);
    return copy != none && residency_[copy].bytes > tiles_.part(read).group_bytes;
  });
}

bool Operands::has_room_for_all(TileId tile) {
  needs_.clear();
  const auto need = [&](MemoryId memory, std::int64_t bytes) {
    const auto known = std::ranges::find(needs_, memory, &std::pair<MemoryId, std::int64_t>::first);
    if (known == needs_.end()) {
      needs_.emplace_back(memory, bytes);
    } else {
      known->second += bytes;
    }
  };
  for (const TileRead& read : tiles_.reads_of(tile)) {
    if (places_.streams(tile, read)) continue;
    const std::uint32_t copy = find(tile, read);
    need(places_.memory_for(tile, read), copy != none ? residency_[copy].bytes : tiles_.part(read).group_bytes);
  }
  for (const TileWrite& write : tiles_.writes_of(tile)) {
    if (places_.streams_out(tile)) break;
    need(places_.output_memory(tile), tiles_.buffers[write.buffer.index()].bytes);
  }
  for (const HeldBytes& held : places_.cost(tile).held) need(places_.level_of(tile, held.level), held.bytes);
  return std::ranges::all_of(needs_, [&](const auto& each) { return residency_.fits(each.first, each.second); });
}

void Operands::use_until(const Moment& end) {
  for (std::uint32_t copy : used_) {
    residency_[copy].keep_until(end);
    --residency_[copy].readers;
  }
}

void Operands::finish(TileId tile, const Moment& end) {
  const Phase phase = graph_[tiles_.node[tile.index()]].phase;
  for (const TileRead& read : tiles_.reads_of(tile)) {
    const bool streams = places_.streams(tile, read);
    // From another home it reads what has come there for it.
    TensorAtHome& tensor = homes_.tensor_of(read.buffer);
    if (streams && places_.memory_for(tile, read) == tensor.memory) tensor.end = std::max(tensor.end, end.at);
    readers_.finish_read(read.buffer, phase);
    if (readers_.left(read.buffer) == 0) {
      residency_.drop(read.buffer);
    } else if (!streams) {
      const std::uint32_t copy = find(tile, read);
      if (copy != none && residency_.is_done(residency_[copy])) residency_.release(copy);
    }
    paging_.page_out_if_done(read.buffer);
  }
}

}  // namespace monet::scheduling
