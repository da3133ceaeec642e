#include "evaluate/account/critical_path.h"
#include "evaluate/account/occupancy.h"
#include "evaluate/run/result.h"

#include <fmt/format.h>

namespace monet {

namespace {

class Events {
 public:
  explicit Events(const ScheduledStep& step) : step_(step), rows_(operator_rows(step)) {}

  TraceEvent tile(std::size_t index) const {
    const ScheduledTile& tile = step_.schedule.tiles[index];
    const NodeId node = step_.tiles.node[index];
    TraceEvent event{.track = fmt::format("core {}", step_.hardware[tile.core].name),
                     .name = step_.graph[node].name,
                     .kind = std::string(name_of(step_.graph[node].phase)),
                     .start = tile.start,
                     .end = tile.end};
    const OperatorTiles& tiles = step_.tiles.operators[node.index()];
    event.operator_row = rows_[node.index()];
    if (tiles.count > 1) event.part = static_cast<std::int64_t>(index - tiles.first);
    set_wait(event, tile.wait, tile.by);
    return event;
  }

  TraceEvent transfer(std::size_t index) const {
    const ScheduledTransfer& transfer = step_.schedule.transfers[index];
    TraceEvent event{.track = track_of(step_.schedule.routes[transfer.route]),
                     .name = {},
                     .kind = std::string(name_of(time_of(transfer.kind))),
                     .start = transfer.start,
                     .end = transfer.end,
                     .bytes = transfer.bytes};
    if (transfer.buffer.valid()) event.name = step_.graph[step_.tiles.buffers[transfer.buffer.index()].tensor].name;
    event.from = step_.hardware[transfer.from].name;
    event.to = step_.hardware[transfer.to].name;
    set_wait(event, transfer.wait, transfer.by);
    return event;
  }

 private:
  // The first of its links; without one, the first port.
  std::string track_of(const Route& route) const {
    for (const ChannelUse& use : route.channels) {
      if (step_.schedule.channels[use.channel].link.valid()) return "link " + step_.schedule.channels[use.channel].name;
    }
    return route.channels.empty() ? "transfers"
                                  : "port " + step_.schedule.channels[route.channels.front().channel].name;
  }

  // Events of tiles come first.
  void set_wait(TraceEvent& event, Wait wait, std::uint32_t by) const {
    const std::size_t tiles = step_.schedule.tiles.size();
    const auto set = [&](EventWait what, std::size_t index) {
      event.wait = what;
      event.by = static_cast<std::int64_t>(index);
    };
    switch (wait) {
      case Wait::nothing: return;
      case Wait::core: return set(EventWait::core, by);
      case Wait::data: return set(EventWait::data, by);
      case Wait::transfer: return set(EventWait::data, tiles + by);
      case Wait::memory: return set(EventWait::room, by);
      case Wait::room: return set(EventWait::room, tiles + by);
    }
  }

  const ScheduledStep& step_;
  std::vector<std::int64_t> rows_;  // by node
};

}  // namespace

void fill_trace(Evaluation& evaluation, const ScheduledStep& step, const CriticalPath& path) {
  const Events events(step);
  evaluation.trace.reserve(step.schedule.tiles.size() + step.schedule.transfers.size());
  for (std::size_t i = 0; i < step.schedule.tiles.size(); ++i) evaluation.trace.push_back(events.tile(i));
  for (std::size_t i = 0; i < step.schedule.transfers.size(); ++i) evaluation.trace.push_back(events.transfer(i));
  for (const PathStep& part : path.steps) {
    if (part.what == PathStep::What::wait || part.end <= part.start) continue;
    const bool tile = part.what == PathStep::What::tile;
    evaluation.trace[part.index + (tile ? 0 : step.schedule.tiles.size())].critical = true;
  }
}

void fill_lifetimes(Evaluation& evaluation, const ScheduledStep& step, const PackedStays* packed) {
  const auto& [graph, hardware, assignment, tiles, schedule] = step;
  const auto add = [&](const auto& stay, const std::string& tensor, const std::string& part, std::int64_t address) {
    evaluation.lifetimes.push_back({.memory = step.hardware[stay.memory].name,
                                    .name = tensor + part,
                                    .role = std::string(name_of(role_of(step, stay))),
                                    .tensor = tensor,
                                    .start = stay.start,
                                    .end = stay.end,
                                    .bytes = stay.bytes,
                                    .address = address});
  };
  for (std::size_t i = 0; i < schedule.home.size(); ++i) {
    const TensorStay& stay = schedule.home[i];
    add(stay, stay.tensor.valid() ? graph[stay.tensor].name : "workspace", "",
        packed != nullptr ? packed->home[i] : -1);
  }
  for (std::size_t i = 0; i < schedule.stays.size(); ++i) {
    const Stay& stay = schedule.stays[i];
    std::string name = "workspace", part;
    if (stay.buffer.valid()) {
      const TensorId tensor = tiles.buffers[stay.buffer.index()].tensor;
      const std::size_t first = tiles.first_buffer[tensor.index()];
      const bool whole = tiles.first_buffer[tensor.index() + 1] - first == 1;
      name = graph[tensor].name;
      if (!whole) part = fmt::format(" [{}]", stay.buffer.index() - first);
    } else if (stay.tile.valid()) {
      name = fmt::format("workspace of {}", graph[tiles.node[stay.tile.index()]].name);
    }
    add(stay, name, part, packed != nullptr ? packed->stays[i] : -1);
  }
}

}  // namespace monet
