#include "evaluate/schedule/listeners.h"

#include <algorithm>
#include <tuple>

namespace monet::scheduling {

Listeners::Listeners(const TileGraph& tiles, const TilePlaces& places, Readers& readers)
    : tiles_(tiles), places_(places), readers_(readers), run_of_(tiles.buffers.size(), none) {}

std::span<const Listener> Listeners::of(TileId tile, BufferId buffer, std::uint32_t group, std::uint8_t input,
                                        MemoryId memory) {
  listeners_.clear();
  const NodeId node = tiles_.node[tile.index()];
  const std::uint32_t next = readers_.next(buffer);
  if (next == none || tiles_.node[next] != node) return listeners_;
  std::uint32_t& of_buffer = run_of_[buffer.index()];
  if (of_buffer == none) {
    of_buffer = static_cast<std::uint32_t>(runs_.size());
    runs_.emplace_back();
  }
  Run& run = runs_[of_buffer];
  if (run.node != node) fill(run, node, buffer);
  const std::uint8_t part_input = group == none ? 0 : input;
  const auto part_of = [&](const Stretch& stretch) {
    const Read& read = run.reads[stretch.end - 1];
    return std::pair(read.group, read.input);
  };
  const auto same = std::ranges::equal_range(run.stretches, std::pair(group, part_input), {}, part_of);
  found_.clear();
  for (Stretch& stretch : same) {
    if (run.reads[stretch.end - 1].memory == memory) continue;
    if (const Read* first = first_to_come(run, stretch, tile)) found_.push_back(first);
  }
  std::ranges::sort(found_, {}, [](const Read* read) { return std::pair(read->tile, read->number); });
  for (const Read* read : found_) listeners_.push_back({TileId(read->tile), read->memory});
  return listeners_;
}

void Listeners::fill(Run& run, NodeId node, BufferId buffer) const {
  run.node = node;
  run.reads.clear();
  run.stretches.clear();
  const std::int64_t whole = tiles_.buffers[buffer.index()].bytes;
  const OperatorTiles& op = tiles_.operators[node.index()];
  const auto readers = readers_.of(buffer);
  std::uint32_t before = none;
  for (auto reader = std::ranges::lower_bound(readers, op.first);
       reader != readers.end() && *reader < op.first + op.count; ++reader) {
    if (*reader == before) continue;  // it reads the buffer more than once
    before = *reader;
    const TileId tile(*reader);
    std::uint32_t number = 0;
    for (const TileRead& read : tiles_.reads_of(tile)) {
      ++number;
      if (read.buffer != buffer || places_.streams(tile, read)) continue;
      const ReadPart& part = tiles_.part(read);
      const bool is_whole = part.group_bytes >= whole;
      run.reads.push_back({.group = is_whole ? none : places_.group_of(tile, part),
                           .input = is_whole ? std::uint8_t{0} : part.input,
                           .memory = places_.memory_for(tile, read),
                           .tile = *reader,
                           .number = number});
    }
  }
  const auto place = [](const Read& read) {
    return std::tuple(read.group, read.input, read.memory.index(), read.tile, read.number);
  };
  std::ranges::sort(run.reads, {}, place);
  for (std::uint32_t i = 0; i < run.reads.size(); ++i) {
    const Read& read = run.reads[i];
    const bool begins = i == 0 || std::tuple(run.reads[i - 1].group, run.reads[i - 1].input, run.reads[i - 1].memory) !=
                                      std::tuple(read.group, read.input, read.memory);
    if (begins) run.stretches.push_back({.first = i, .end = i});
    run.stretches.back().end = i + 1;
  }
}

const Listeners::Read* Listeners::first_to_come(const Run& run, Stretch& stretch, TileId but) const {
  const auto is_placed = [&](std::uint32_t i) { return readers_.is_placed(TileId(run.reads[i].tile)); };
  while (stretch.first < stretch.end && is_placed(stretch.first)) ++stretch.first;
  for (std::uint32_t i = stretch.first; i < stretch.end; ++i) {
    if (TileId(run.reads[i].tile) != but && !is_placed(i)) return &run.reads[i];
  }
  return nullptr;
}

}  // namespace monet::scheduling
