#include "evaluate/schedule/results.h"

#include "base/try.h"

namespace monet::scheduling {

Results::Results(const ScheduleInput& input, const TilePlaces& places, const Readers& readers, Homes& homes,
                 Transfers& transfers, Residency& residency, Paging& paging, Fetches& fetches, std::vector<Stay>& stays)
    : in_(input),
      places_(places),
      readers_(readers),
      homes_(homes),
      transfers_(transfers),
      residency_(residency),
      paging_(paging),
      fetches_(fetches),
      stays_(stays) {}

void Results::hold(const Placing& now) {
  if (places_.streams_out(now.tile)) return;
  for (const TileWrite& write : in_.tiles.writes_of(now.tile)) {
    if (!write.adds) continue;
    const std::uint32_t copy = residency_.find(write.buffer, places_.output_memory(now.tile));
    if (copy != none) residency_[copy].pinned = now.tile;
  }
}

Expected<Moment> Results::make_room(const Placing& now) {
  Moment moment;
  const bool streams = places_.streams_out(now.tile);
  const MemoryId memory = places_.output_memory(now.tile);
  for (const TileWrite& write : in_.tiles.writes_of(now.tile)) {
    if (streams && !write.adds) continue;
    const std::int64_t bytes = in_.tiles.buffers[write.buffer.index()].bytes;
    if (streams) {
      if (!homes_.has(write.buffer)) MONET_RETURN_IF_ERROR(residency_.write_back(write.buffer));
      residency_.drop(write.buffer);
      MONET_TRY(const Moment there, fetches_.visit(write.buffer, bytes, memory));
      moment = later(moment, there);
    } else if (write.adds) {
      MONET_TRY(const Moment there, continue_sum(now, write.buffer, memory));
      moment = later(moment, there);
    } else {
      MONET_TRY(const Moment room, residency_.make_room(now, memory, bytes));
      moment = later(moment, room);
      const std::uint32_t copy = residency_.add(now, write.buffer, memory, bytes);
      residency_[copy].responsible = true;
      copies_.push_back(copy);
      fresh_.push_back(copy);
    }
  }
  for (const HeldBytes& held : places_.cost(now.tile).held) {
    const MemoryId level = places_.level_of(now.tile, held.level);
    MONET_TRY(const Moment room, residency_.make_room(now, level, held.bytes));
    moment = later(moment, room);
    workspaces_.emplace_back(level, held.bytes);
  }
  return moment;
}

Expected<Moment> Results::continue_sum(const Placing& now, BufferId buffer, MemoryId memory) {
  std::uint32_t copy = residency_.find(buffer, memory);
  if (copy == none) {
    MONET_TRY(copy, fetches_.fetch(now, buffer, memory, in_.tiles.buffers[buffer.index()].bytes));
  }
  // The sum goes on here: what was left behind is out of date.
  residency_.drop(buffer, copy);
  residency_[copy].pinned = now.tile;
  residency_[copy].responsible = true;
  homes_[buffer].since = {never};
  copies_.push_back(copy);
  return residency_[copy].ready;
}

Status Results::finish(TileId tile, const ScheduledTile& scheduled) {
  const Moment end{scheduled.end, Wait::memory, static_cast<std::uint32_t>(tile.index())};
  const Moment made{scheduled.end, Wait::data, static_cast<std::uint32_t>(tile.index())};
  for (const auto& [memory, bytes] : workspaces_) residency_.use_workspace(tile, memory, bytes, scheduled.start, end);
  workspaces_.clear();
  for (std::uint32_t copy : fresh_) residency_.begin_stay(copy, scheduled.start);
  fresh_.clear();
  for (std::uint32_t copy : copies_) {
    residency_[copy].ready = made;
    residency_[copy].keep_until(end);
  }
  copies_.clear();
  if (places_.streams_out(tile)) {
    for (const TileWrite& write : in_.tiles.writes_of(tile)) {
      MONET_RETURN_IF_ERROR(write_home(write, places_.output_memory(tile), scheduled.start, made));
    }
  }
  fetches_.end_visits(scheduled.end);
  return Done{};
}

Status Results::write_home(const TileWrite& write, MemoryId written, double start, const Moment& made) {
  TensorAtHome& tensor = homes_.tensor_of(write.buffer);
  if (written == tensor.memory) {
    tensor.use(start, made.at);
    homes_[write.buffer].since = made;
    return Done{};
  }
  // Its place is in another memory.
  const std::int64_t bytes = in_.tiles.buffers[write.buffer.index()].bytes;
  MONET_TRY(const Moment there,
            transfers_.move(write.buffer, bytes, written, tensor.memory, TransferKind::write_back, made));
  homes_[write.buffer].since = there;
  if (write.adds && fetches_.end_visit(write.buffer, there.at)) return Done{};
  stays_.push_back(
      {.start = start, .end = there.at, .bytes = bytes, .buffer = write.buffer, .tile = {}, .memory = written});
  return Done{};
}

Status Results::complete(BufferId buffer) {
  if (homes_[buffer].must_go && !homes_.has(buffer)) MONET_RETURN_IF_ERROR(residency_.write_back(buffer));
  if (readers_.left(buffer) == 0) residency_.drop(buffer);
  paging_.page_out_if_done(buffer);
  return Done{};
}

}  // namespace monet::scheduling
