#include "evaluate/account/critical_path.h"

#include <algorithm>
#include <optional>

namespace monet {

namespace {

struct Item {
  PathStep::What what = PathStep::What::tile;
  std::uint32_t index = 0;
};

class Walk {
 public:
  Walk(const ScheduledStep& step, std::span<const NodeId> owners) : step_(step), owners_(owners) {}

  CriticalPath run() {
    std::optional<Item> item = last();
    cursor_ = step_.schedule.cycles;
    // A schedule that is right takes no more steps than it has parts.
    std::size_t left = step_.schedule.tiles.size() + step_.schedule.transfers.size();
    for (; item && left > 0; --left) {
      const NodeId node = node_of(*item);
      const double end = std::min(end_of(*item), cursor_);
      if (end < cursor_) add({PathStep::What::wait, 0, waiting_.valid() ? waiting_ : node, end, cursor_});
      const double start = std::clamp(start_of(*item), 0.0, end);
      add({item->what, item->index, node, start, end});
      waiting_ = node;
      item = before(*item);
    }
    if (cursor_ > 0) add({PathStep::What::wait, 0, waiting_, 0, cursor_});
    std::ranges::reverse(path_.steps);
    return std::move(path_);
  }

 private:
  static bool is_tile(const Item& item) { return item.what == PathStep::What::tile; }
  const ScheduledTile& tile(const Item& item) const { return step_.schedule.tiles[item.index]; }
  const ScheduledTransfer& transfer(const Item& item) const { return step_.schedule.transfers[item.index]; }
  double start_of(const Item& item) const { return is_tile(item) ? tile(item).start : transfer(item).start; }
  double end_of(const Item& item) const { return is_tile(item) ? tile(item).end : transfer(item).end; }
  NodeId node_of(const Item& item) const { return is_tile(item) ? step_.tiles.node[item.index] : owners_[item.index]; }

  std::optional<Item> last() const {
    std::optional<Item> found;
    const auto offer = [&](const Item& item) {
      if (!found || end_of(item) > end_of(*found)) found = item;
    };
    for (std::size_t i = 0; i < step_.schedule.tiles.size(); ++i) {
      offer({PathStep::What::tile, static_cast<std::uint32_t>(i)});
    }
    for (std::size_t i = 0; i < step_.schedule.transfers.size(); ++i) {
      offer({PathStep::What::transfer, static_cast<std::uint32_t>(i)});
    }
    return found;
  }

  std::optional<Item> before(const Item& item) const {
    const Wait wait = is_tile(item) ? tile(item).wait : transfer(item).wait;
    const std::uint32_t by = is_tile(item) ? tile(item).by : transfer(item).by;
    if (wait == Wait::nothing) return std::nullopt;
    const bool transfer = wait == Wait::transfer || wait == Wait::room;
    if (by >= (transfer ? step_.schedule.transfers.size() : step_.schedule.tiles.size())) return std::nullopt;
    return Item{transfer ? PathStep::What::transfer : PathStep::What::tile, by};
  }

  void spend(PathTime time, double cycles) { path_.cycles[static_cast<std::size_t>(time)] += cycles; }

  void add(const PathStep& step) {
    path_.steps.push_back(step);
    cursor_ = step.start;
    const double cycles = step.end - step.start;
    switch (step.what) {
      case PathStep::What::wait: spend(PathTime::wait, cycles); break;
      case PathStep::What::transfer: spend(time_of(step_.schedule.transfers[step.index].kind), cycles); break;
      case PathStep::What::tile: {
        const ScheduledTile& tile = step_.schedule.tiles[step.index];
        const TileCost& cost = step_.schedule.costs[tile.cost];
        const double share = length(tile) > 0 ? cycles / length(tile) : 0;  // less than 1: what follows overlaps it
        const double stall = share * cost.stall_cycles, load = share * cost.load_cycles;
        const double fill = share * cost.fill_cycles, slowed = share * (length(tile) - cost.cycles);
        spend(PathTime::stall, stall);
        spend(PathTime::load, load);
        spend(PathTime::fill, fill);
        spend(PathTime::slowed, slowed);
        spend(PathTime::compute, cycles - stall - load - fill - slowed);
      }
    }
  }

  const ScheduledStep& step_;
  std::span<const NodeId> owners_;
  CriticalPath path_;
  double cursor_ = 0;  // the path is known from here on
  NodeId waiting_;     // of what starts there
};

}  // namespace

std::string_view name_of(PathTime time) {
  static constexpr std::array<std::string_view, path_times> names = {
      "compute",    "stall",        "load",     "fill",    "slowed", "fetch",
      "write back", "core to core", "page out", "page in", "wait"};
  return names[static_cast<std::size_t>(time)];
}

PathTime time_of(TransferKind kind) {
  return static_cast<PathTime>(static_cast<std::size_t>(PathTime::fetch) + static_cast<std::size_t>(kind));
}

CriticalPath critical_path(const ScheduledStep& step, std::span<const NodeId> owners) {
  return Walk(step, owners).run();
}

}  // namespace monet
