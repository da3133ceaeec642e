#include "evaluate/schedule/scheduling.h"

#include "base/stop.h"
#include "base/try.h"

#include <fmt/format.h>

#include <algorithm>

namespace monet::scheduling {

Expected<Schedule> Scheduler::run() {
  MONET_RETURN_IF_ERROR(prepare());
  if (in_.assignment.order == PlanOrder::critical_path) {
    MONET_RETURN_IF_ERROR(run_by_readiness());
  } else {
    MONET_RETURN_IF_ERROR(run_in_order());
  }
  MONET_RETURN_IF_ERROR(check_paged());
  finish();
  return std::move(out_);
}

Status Scheduler::run_in_order() {
  std::vector<std::uint32_t> by_rank(rank_.size());
  for (std::size_t t = 0; t < rank_.size(); ++t) by_rank[rank_[t]] = static_cast<std::uint32_t>(t);
  for (std::uint32_t t : by_rank) MONET_RETURN_IF_ERROR(place(TileId(t)));
  return Done{};
}

Status Scheduler::run_by_readiness() {
  for (std::size_t t = 0; t < tiles_.tiles(); ++t) {
    if (waits_for_[t] == 0) ready_->offer(TileId(t), places_.core_of(TileId(t)), 0);
  }
  std::size_t left = tiles_.tiles();
  for (auto tile = ready_->next(); tile; tile = ready_->next(), --left) MONET_RETURN_IF_ERROR(place(*tile));
  if (left > 0) {
    return Error{.kind = ErrorKind::defect, .message = fmt::format("{} tiles wait for each other", left)};
  }
  return Done{};
}

Status Scheduler::place(TileId tile) {
  constexpr std::size_t between_questions = 4096;  // tiles
  if (in_.stop && ++since_question_ == between_questions) {
    since_question_ = 0;
    if (in_.stop()) return stopped_error();
  }
  ScheduledTile& to = out_.tiles[tile.index()];
  CoreState& core = cores_[to.core.index()];
  const TileCost& tile_cost = places_.cost(tile);
  pin_ = static_cast<std::uint32_t>(tile.index());
  used_.clear();
  Moment start = later(core.free, {to.start, Wait::data, to.by});
  could_start_ = start.at;
  // What is there already is held fast before anything else is fetched.
  only_parts_ = false;
  only_parts_ = has_more_than_it_needs(tile) && !has_room_for_all(tile, tile_cost);
  for (const TileRead& read : tiles_.reads_of(tile)) {
    if (places_.streams(tile, read)) continue;
    if (const std::uint32_t copy = find(tile, read); copy != none) {
      copies_[copy].pinned = pin_;
    }
  }
  for (const TileWrite& write : tiles_.writes_of(tile)) {
    if (!write.adds || places_.streams_out(tile)) continue;
    if (const std::uint32_t copy = find(write.buffer, places_.output_memory(tile)); copy != none) {
      copies_[copy].pinned = pin_;
    }
  }
  for (const TileRead& read : tiles_.reads_of(tile)) {
    MONET_TRY(const Moment ready, places_.streams(tile, read) ? at_home(tile, read) : in_core(tile, read));
    start = later(start, ready);
  }
  MONET_TRY(const Moment room, room_for_results(tile, tile_cost));
  start = later(start, room);

  to.start = start.at;
  to.wait = start.wait;
  to.by = start.by;
  to.cost = in_.cost_of[tile.index()];
  to.end = start.at + tile_cost.cycles;
  MONET_RETURN_IF_ERROR(ports_.occupy(tile, to));
  readers_.set_placed(tile);
  core.previous_start = to.start;
  core.free = {to.end, Wait::core, static_cast<std::uint32_t>(tile.index())};
  ready_->set_busy(to.core, to.end);
  finish_tile(tile);
  if (failure_) return *std::move(failure_);
  return Done{};
}

}  // namespace monet::scheduling

namespace monet {

Expected<Schedule> make_schedule(const ScheduleInput& input) { return scheduling::Scheduler(input).run(); }

}  // namespace monet
