#include "evaluate/schedule/scheduler.h"

#include "base/stop.h"
#include "base/try.h"
#include "evaluate/schedule/bookings.h"
#include "evaluate/schedule/fetches.h"
#include "evaluate/schedule/homes.h"
#include "evaluate/schedule/operands.h"
#include "evaluate/schedule/order.h"
#include "evaluate/schedule/paging.h"
#include "evaluate/schedule/ports.h"
#include "evaluate/schedule/precedence.h"
#include "evaluate/schedule/readers.h"
#include "evaluate/schedule/ready_queue.h"
#include "evaluate/schedule/residency.h"
#include "evaluate/schedule/results.h"
#include "evaluate/schedule/tile_places.h"
#include "evaluate/schedule/transfers.h"

#include <fmt/format.h>

#include <algorithm>

namespace monet {

namespace scheduling {

namespace {

// One tile after the other finds its place, and with it what it reads and makes.
class Scheduler {
 public:
  explicit Scheduler(const ScheduleInput& input);

  Expected<Schedule> run();

 private:
  struct CoreState {
    Moment free;
    double previous_start = 0;
  };

  Schedule empty_schedule() const;
  std::vector<std::uint32_t> ranks() const;
  Status run_in_order();
  Status run_by_readiness();
  Status place(TileId tile);
  Status finish_tile(TileId tile);
  void finish();
  // Only the costs and routes that are used go along.
  void renumber_routes();
  void renumber_costs();

  // Each uses those before it.
  const ScheduleInput& in_;
  const TilePlaces places_;
  const std::vector<std::uint32_t> rank_;  // by tile
  const bool by_readiness_;
  Schedule out_;
  Bookings bookings_;
  Ports ports_;
  Readers readers_;
  Homes homes_;
  Transfers transfers_;
  Residency residency_;
  Paging paging_;
  Fetches fetches_;
  Operands operands_;
  Results results_;
  ReadyQueue ready_;
  Precedence precedence_;
  std::vector<CoreState> cores_;
  std::size_t since_question_ = 0;  // tiles placed since it was last asked whether to stop
};

Scheduler::Scheduler(const ScheduleInput& input)
    : in_(input),
      places_(input),
      rank_(ranks()),
      by_readiness_(input.assignment.order == PlanOrder::critical_path),
      out_(empty_schedule()),
      bookings_(input.machine.channels()),
      ports_(input, places_, bookings_),
      readers_(input.graph, input.tiles, places_),
      homes_(input, places_, readers_),
      transfers_(input, bookings_, homes_, out_.transfers),
      residency_(input, rank_, readers_, homes_, transfers_, out_.stays),
      paging_(input, readers_, homes_, transfers_, residency_, out_.home),
      fetches_(input, places_, readers_, homes_, transfers_, residency_, paging_, out_.stays),
      operands_(input, places_, readers_, homes_, residency_, paging_, fetches_),
      results_(input, places_, readers_, homes_, transfers_, residency_, paging_, fetches_, out_.stays),
      ready_(input.machine.hardware().cores.size(), rank_),
      precedence_(input, readers_, paging_.order(), out_.tiles, by_readiness_ ? &ready_ : nullptr),
      cores_(input.machine.hardware().cores.size()) {}

Schedule Scheduler::empty_schedule() const {
  Schedule schedule;
  schedule.tiles.resize(in_.tiles.tiles());
  for (std::size_t t = 0; t < in_.tiles.tiles(); ++t) schedule.tiles[t].core = places_.core_of(TileId(t));
  for (std::size_t c = 0; c < in_.machine.hardware().cores.size(); ++c) {
    schedule.home_of.push_back(in_.machine[CoreId(c)].home[static_cast<std::size_t>(Path::output)]);
  }
  return schedule;
}

std::vector<std::uint32_t> Scheduler::ranks() const {
  std::vector<double> cycles(in_.tiles.tiles());
  for (std::size_t t = 0; t < cycles.size(); ++t) cycles[t] = places_.cost(TileId(t)).cycles;
  return tile_order(in_.graph, in_.dependencies, in_.machine, in_.assignment, in_.tiles, cycles);
}

Expected<Schedule> Scheduler::run() {
  MONET_RETURN_IF_ERROR(paging_.check());
  MONET_RETURN_IF_ERROR(by_readiness_ ? run_by_readiness() : run_in_order());
  MONET_RETURN_IF_ERROR(paging_.check_all_paged());
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
  std::size_t left = in_.tiles.tiles();
  for (auto tile = ready_.next(); tile; tile = ready_.next(), --left) MONET_RETURN_IF_ERROR(place(*tile));
  if (left == 0) return Done{};
  return Error{.kind = ErrorKind::defect, .message = fmt::format("{} tiles wait for each other", left)};
}

Status Scheduler::place(TileId tile) {
  constexpr std::size_t between_questions = 4096;  // tiles
  if (in_.stop && ++since_question_ == between_questions) {
    since_question_ = 0;
    if (in_.stop()) return stopped_error();
  }
  ScheduledTile& to = out_.tiles[tile.index()];
  CoreState& core = cores_[to.core.index()];
  Moment start = later(core.free, {to.start, Wait::data, to.by});
  const Placing now{.tile = tile, .could_start = start.at, .previous_start = core.previous_start};
  // What is there already is held fast before anything else is fetched.
  operands_.hold(now);
  results_.hold(now);
  MONET_TRY(const Moment read, operands_.bring(now));
  MONET_TRY(const Moment room, results_.make_room(now));
  start = later(later(start, read), room);

  to.start = start.at;
  to.wait = start.wait;
  to.by = start.by;
  to.cost = in_.cost_of[tile.index()];
  to.end = start.at + places_.cost(tile).cycles;
  MONET_RETURN_IF_ERROR(ports_.occupy(tile, to));
  readers_.set_placed(tile);
  core.previous_start = to.start;
  core.free = {to.end, Wait::core, static_cast<std::uint32_t>(tile.index())};
  ready_.set_busy(to.core, to.end);
  return finish_tile(tile);
}

Status Scheduler::finish_tile(TileId tile) {
  const ScheduledTile& done = out_.tiles[tile.index()];
  const Moment end{done.end, Wait::memory, static_cast<std::uint32_t>(tile.index())};
  const Moment made{done.end, Wait::data, static_cast<std::uint32_t>(tile.index())};
  operands_.use_until(end);
  MONET_RETURN_IF_ERROR(results_.finish(tile, done));
  for (const TileWrite& write : in_.tiles.writes_of(tile)) {
    if (!write.final) continue;
    MONET_RETURN_IF_ERROR(results_.complete(write.buffer));
    precedence_.complete(write.buffer, made);
  }
  operands_.finish(tile, end);
  paging_.finish(tile);
  precedence_.finish(tile, made);
  return Done{};
}

void Scheduler::finish() {
  for (const ScheduledTile& tile : out_.tiles) out_.cycles = std::max(out_.cycles, tile.end);
  for (const ScheduledTransfer& transfer : out_.transfers) out_.cycles = std::max(out_.cycles, transfer.end);
  for (Stay& stay : out_.stays) stay.end = std::min(stay.end, out_.cycles);
  paging_.add_stays(out_.cycles);
  homes_.add_stays(out_.cycles, out_.home);
  out_.channels = in_.machine.channels();
  renumber_routes();
  renumber_costs();
}

void Scheduler::renumber_routes() {
  const std::vector<Route>& routes = in_.machine.routes();
  std::vector<std::uint32_t> number(routes.size(), no_route);
  const auto use = [&](std::uint32_t& route) {
    if (route == no_route) return;
    if (number[route] == no_route) {
      number[route] = static_cast<std::uint32_t>(out_.routes.size());
      out_.routes.push_back(routes[route]);
    }
    route = number[route];
  };
  for (ScheduledTransfer& transfer : out_.transfers) use(transfer.route);
  for (ScheduledTile& tile : out_.tiles) {
    use(tile.read_route);
    use(tile.write_route);
  }
}

void Scheduler::renumber_costs() {
  std::vector<std::uint32_t> number;
  for (ScheduledTile& tile : out_.tiles) {
    if (tile.cost >= number.size()) number.resize(tile.cost + 1, none);
    if (number[tile.cost] == none) {
      number[tile.cost] = static_cast<std::uint32_t>(out_.costs.size());
      out_.costs.push_back(in_.costs[tile.cost]);
    }
    tile.cost = number[tile.cost];
  }
}

}  // namespace

}  // namespace scheduling

Expected<Schedule> make_schedule(const ScheduleInput& input) { return scheduling::Scheduler(input).run(); }

}  // namespace monet
