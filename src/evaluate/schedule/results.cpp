#include "evaluate/schedule/scheduling.h"

#include "base/try.h"

#include <algorithm>

namespace monet::scheduling {

Expected<Moment> Scheduler::room_for_results(TileId tile, const TileCost& tile_cost) {
  Moment moment;
  const bool streams_out = places_.streams_out(tile);
  for (const TileWrite& write : tiles_.writes_of(tile)) {
    BufferState& state = buffers_[write.buffer.index()];
    const MemoryId memory = places_.output_memory(tile);
    if (streams_out) {
      if (!write.adds) continue;
      if (state.home.at == never) MONET_RETURN_IF_ERROR(write_back(write.buffer));
      drop(write.buffer);
      if (memory == tensor_of(write.buffer).home) {
        moment = later(moment, state.home);
      } else {
        MONET_TRY(const Moment there, visit(write.buffer, tiles_.buffers[write.buffer.index()].bytes, memory));
        moment = later(moment, there);
      }
      continue;
    }
    if (write.adds) {
      std::uint32_t copy = find(write.buffer, memory);
      if (copy == none) {
        MONET_TRY(copy, fetch(tile, write.buffer, memory, tiles_.buffers[write.buffer.index()].bytes, none,
                              TransferKind::fetch));
      }
      // The sum goes on here: what was left behind is out of date.
      for (std::uint32_t other = state.copies; other != none;) {
        const std::uint32_t next = copies_[other].next;
        if (other != copy) release(other, copies_[other].idle);
        other = next;
      }
      copies_[copy].pinned = pin_;
      copies_[copy].responsible = true;
      state.home = {never};
      moment = later(moment, copies_[copy].ready);
      results_.push_back(copy);
      continue;
    }
    const std::int64_t bytes = tiles_.buffers[write.buffer.index()].bytes;
    MONET_TRY(const Moment room, make_room(tile, memory, bytes));
    moment = later(moment, room);
    const std::uint32_t copy = add_copy(write.buffer, memory, bytes);
    copies_[copy].responsible = true;
    results_.push_back(copy);
    fresh_.push_back(copy);
  }
  for (const HeldBytes& held : tile_cost.held) {
    const MemoryId memory = hardware_[places_.core_of(tile)].levels[held.level].memory;
    MONET_TRY(const Moment room, make_room(tile, memory, held.bytes));
    moment = later(moment, room);
    workspaces_.emplace_back(memory, held.bytes);
  }
  return moment;
}

void Scheduler::finish_tile(TileId tile) {
  const ScheduledTile& to = out_.tiles[tile.index()];
  const Moment end{to.end, Wait::memory, static_cast<std::uint32_t>(tile.index())};
  const Moment made{to.end, Wait::data, static_cast<std::uint32_t>(tile.index())};
  for (const auto& [memory, bytes] : workspaces_) {
    rooms_[memory.index()].begin(bytes, to.start);
    rooms_[memory.index()].give_back(bytes, end);
    out_.stays.push_back(
        {.start = to.start, .end = to.end, .bytes = bytes, .buffer = {}, .tile = tile, .memory = memory});
  }
  workspaces_.clear();
  for (std::uint32_t copy : used_) {
    keep_until(copies_[copy], end);
    --copies_[copy].readers;
  }
  for (std::uint32_t copy : fresh_) begin_stay(copy, to.start);
  for (std::uint32_t copy : results_) {
    copies_[copy].ready = made;
    keep_until(copies_[copy], end);
  }
  fresh_.clear();
  results_.clear();
  const bool streams_out = places_.streams_out(tile);
  for (const TileWrite& write : tiles_.writes_of(tile)) {
    if (streams_out) write_home(tile, write, made);
    if (failure_) return;
  }
  for (Stay& stay : visits_) {
    stay.end = stay.end == never ? to.end : stay.end;
    out_.stays.push_back(stay);
  }
  visits_.clear();
  for (const TileWrite& write : tiles_.writes_of(tile)) {
    if (write.final) complete(tile, write.buffer);
  }
  for (const TileRead& read : tiles_.reads_of(tile)) finish_read(tile, read);
  leave(tile);
  const auto chain = std::ranges::equal_range(chain_, static_cast<std::uint32_t>(tile.index()), {},
                                              &std::pair<std::uint32_t, std::uint32_t>::first);
  for (const auto& [from, to_tile] : chain) arrived(TileId(to_tile), made);
  // The last reader of an old value lets the new one come.
  const NodeId node = tiles_.node[tile.index()];
  auto& [left, last] = left_of_[node.index()];
  last = later(last, made);
  if (--left > 0) return;
  for (const auto& [reader, replacer] :
       std::ranges::equal_range(replaces_, node, {}, &std::pair<NodeId, NodeId>::first)) {
    const OperatorTiles& op = tiles_.operators[replacer.index()];
    for (std::uint32_t i = 0; i < op.count; ++i) arrived(TileId(op.first + i), last);
  }
}

void Scheduler::write_home(TileId tile, const TileWrite& write, const Moment& made) {
  BufferState& state = buffers_[write.buffer.index()];
  TensorState& tensor = tensor_of(write.buffer);
  const MemoryId written = places_.output_memory(tile);
  if (written == tensor.home) {
    tensor.start = std::min(tensor.start, out_.tiles[tile.index()].start);
    tensor.end = std::max(tensor.end, made.at);
    state.home = made;
    return;
  }
  // Its place is in another memory.
  const std::int64_t bytes = tiles_.buffers[write.buffer.index()].bytes;
  const auto route = machine_.needed_route(written, tensor.home);
  if (!route) {
    failure_ = route.error();
    return;
  }
  const auto there = move(write.buffer, bytes, written, tensor.home, *route, TransferKind::write_back, made);
  if (!there) {
    failure_ = there.error();
    return;
  }
  state.home = *there;
  const auto visit =
      std::ranges::find_if(visits_, [&](const Stay& stay) { return stay.buffer == write.buffer && write.adds; });
  if (visit != visits_.end()) {
    visit->end = there->at;
  } else {
    out_.stays.push_back({.start = out_.tiles[tile.index()].start,
                          .end = there->at,
                          .bytes = bytes,
                          .buffer = write.buffer,
                          .tile = {},
                          .memory = written});
  }
}

void Scheduler::complete(TileId tile, BufferId buffer) {
  BufferState& state = buffers_[buffer.index()];
  if (state.must_go_home && state.home.at == never) {
    if (auto done = write_back(buffer); !done) failure_ = done.error();
  }
  const Moment made{out_.tiles[tile.index()].end, Wait::data, static_cast<std::uint32_t>(tile.index())};
  for (std::uint32_t reader : readers_.of(buffer)) arrived(TileId(reader), made);
  if (readers_.left(buffer) == 0) drop(buffer);
  page_out_if_done(buffer);
}

void Scheduler::arrived(TileId tile, const Moment& moment) {
  ScheduledTile& waiting = out_.tiles[tile.index()];
  if (moment.at > waiting.start) {
    waiting.start = moment.at;
    waiting.by = moment.by;
  }
  if (--waits_for_[tile.index()] == 0 && in_.assignment.order == PlanOrder::critical_path) {
    ready_->offer(tile, waiting.core, waiting.start);
  }
}

void Scheduler::finish_read(TileId tile, const TileRead& read) {
  BufferState& state = buffers_[read.buffer.index()];
  const Moment end{out_.tiles[tile.index()].end, Wait::memory, static_cast<std::uint32_t>(tile.index())};
  TensorState& tensor = tensor_of(read.buffer);
  // From another home it reads what has come there for it.
  if (places_.streams(tile, read) && places_.memory_for(tile, read) == tensor.home)
    tensor.end = std::max(tensor.end, end.at);
  readers_.finish_read(read.buffer, graph_[tiles_.node[tile.index()]].phase);
  if (readers_.left(read.buffer) == 0) {
    drop(read.buffer);
  } else if (!places_.streams(tile, read)) {
    const std::uint32_t copy = find(tile, read);
    if (copy != none && copies_[copy].readers == 0 && (!copies_[copy].responsible || state.home.at < never)) {
      release(copy, copies_[copy].idle);
    }
  }
  page_out_if_done(read.buffer);
}

}  // namespace monet::scheduling
