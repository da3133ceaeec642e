#include "evaluate/account/critical_path.h"

#include <algorithm>
#include <optional>
#include <tuple>

namespace monet {

namespace {

struct Item {
  PathStep::What what = PathStep::What::tile;
  std::uint32_t index = 0;
};

// What uses each channel, and when. Channels are looked at only where somebody asks.
class ChannelUses {
 public:
  explicit ChannelUses(const Schedule& schedule) : schedule_(schedule), channels_(schedule.channels.size()) {
    const auto tiles = static_cast<std::uint32_t>(schedule.tiles.size());
    for (std::uint32_t i = 0; i < tiles; ++i) {
      for (const std::uint32_t route : {schedule.tiles[i].read_route, schedule.tiles[i].write_route}) {
        if (route != no_route) add(route, i);
      }
    }
    for (std::uint32_t i = 0; i < schedule.transfers.size(); ++i) {
      if (schedule.transfers[i].end > schedule.transfers[i].start) add(schedule.transfers[i].route, tiles + i);
    }
  }

  // What kept the way of the transfer busy before its start: what ended just then, else what was still there, else what
  // ended last, after `after`.
  std::optional<Item> before(std::uint32_t index, double after) {
    const ScheduledTransfer& transfer = schedule_.transfers[index];
    const auto tiles = static_cast<std::uint32_t>(schedule_.tiles.size());
    const double start = transfer.start;
    std::optional<std::uint32_t> found;
    const auto offer = [&](double end, std::uint32_t user) {
      if (user == tiles + index || std::min(end, start) <= after) return;
      after = std::min(end, start);
      found = user;
    };
    const std::vector<ChannelUse>& way = schedule_.routes[transfer.route].channels;
    for (const ChannelUse& channel : way) {
      const std::vector<Moment>& ends = by_end(channels_[channel.channel]);
      const auto next = std::ranges::upper_bound(ends, start * (1 + rounding), {}, &Moment::at);
      if (next != ends.begin()) offer(std::prev(next)->at, std::prev(next)->user);
    }
    for (const ChannelUse& channel : way) {
      if (after >= start * (1 - rounding)) break;
      const std::vector<Moment>& starts = by_start(channels_[channel.channel]);
      const auto next = std::ranges::lower_bound(starts, start, {}, &Moment::at);
      if (next != starts.begin()) offer(end_of(std::prev(next)->user), std::prev(next)->user);
    }
    if (!found) return std::nullopt;
    return *found < tiles ? Item{PathStep::What::tile, *found} : Item{PathStep::What::transfer, *found - tiles};
  }

 private:
  static constexpr double rounding = 1e-12;

  struct Moment {
    double at = 0;
    std::uint32_t user = 0;  // a tile, or after all of them a transfer
    bool operator<(const Moment& other) const { return at < other.at || (at == other.at && user < other.user); }
  };
  struct Uses {
    std::vector<std::uint32_t> users;
    std::vector<Moment> by_end;
    std::vector<Moment> by_start;  // and of all that start no later, the one that ends last
  };

  void add(std::uint32_t route, std::uint32_t user) {
    for (const ChannelUse& channel : schedule_.routes[route].channels) channels_[channel.channel].users.push_back(user);
  }

  double start_of(std::uint32_t user) const {
    const std::size_t tiles = schedule_.tiles.size();
    return user < tiles ? schedule_.tiles[user].start : schedule_.transfers[user - tiles].start;
  }
  double end_of(std::uint32_t user) const {
    const std::size_t tiles = schedule_.tiles.size();
    return user < tiles ? schedule_.tiles[user].end : schedule_.transfers[user - tiles].end;
  }

  const std::vector<Moment>& by_end(Uses& uses) const {
    if (!uses.by_end.empty()) return uses.by_end;
    for (const std::uint32_t user : uses.users) uses.by_end.push_back({end_of(user), user});
    std::sort(uses.by_end.begin(), uses.by_end.end());
    return uses.by_end;
  }

  const std::vector<Moment>& by_start(Uses& uses) const {
    if (!uses.by_start.empty()) return uses.by_start;
    for (const std::uint32_t user : uses.users) uses.by_start.push_back({start_of(user), user});
    std::sort(uses.by_start.begin(), uses.by_start.end());
    for (std::size_t i = 1; i < uses.by_start.size(); ++i) {
      const std::uint32_t earlier = uses.by_start[i - 1].user;
      if (end_of(earlier) >= end_of(uses.by_start[i].user)) uses.by_start[i].user = earlier;
    }
    return uses.by_start;
  }

  const Schedule& schedule_;
  std::vector<Uses> channels_;
};

class Walk {
 public:
  Walk(const ScheduledStep& step, std::span<const NodeId> owners) : step_(step), owners_(owners) {}

  CriticalPath run() {
    std::optional<Item> item = last();
    cursor_ = step_.schedule.cycles;
    // A schedule that is right takes no more steps than it has parts.
    std::size_t left = step_.schedule.tiles.size() + step_.schedule.transfers.size();
    find_previous();
    for (; item && left > 0; --left) {
      const NodeId node = node_of(*item);
      const double end = std::min(end_of(*item), cursor_);
      if (end < cursor_) add({PathStep::What::wait, 0, waiting_.valid() ? waiting_ : node, end, cursor_});
      const double start = std::clamp(start_of(*item), 0.0, end);
      add({item->what, item->index, node, start, end});
      waiting_ = node;
      if (is_tile(*item)) tile_ = item->index;
      const std::optional<Item> before_room = wait_for_room(*item);
      item = before_room ? before_room : reason(*item);
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

  // By tile: the one before it on its core.
  void find_previous() {
    const std::vector<ScheduledTile>& tiles = step_.schedule.tiles;
    std::vector<std::uint32_t> order(tiles.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::sort(order, {}, [&](std::uint32_t i) { return std::tuple(tiles[i].start, tiles[i].end, i); });
    previous_.assign(tiles.size(), nothing);
    std::vector<std::uint32_t> last(step_.hardware.cores.size(), nothing);
    for (const std::uint32_t i : order) {
      previous_[i] = last[tiles[i].core.index()];
      last[tiles[i].core.index()] = i;
    }
  }

  // What something that waited for room waited for before: its core, or the tile that made its data. Nothing: it did
  // not wait, or would have had to wait as long for these.
  std::optional<Item> wait_for_room(const Item& item) {
    const Wait wait = is_tile(item) ? tile(item).wait : transfer(item).wait;
    if ((wait != Wait::memory && wait != Wait::room) || tile_ == nothing) return std::nullopt;
    std::uint32_t last = previous_[tile_];
    const auto end_of_tile = [&](std::uint32_t i) { return i == nothing ? 0.0 : step_.schedule.tiles[i].end; };
    const auto made_by = [&](BufferId buffer) {
      const TileId maker = step_.tiles.buffers[buffer.index()].maker;
      if (!maker.valid() || maker.index() == tile_) return;
      if (end_of_tile(static_cast<std::uint32_t>(maker.index())) > end_of_tile(last)) {
        last = static_cast<std::uint32_t>(maker.index());
      }
    };
    if (is_tile(item)) {
      for (const TileRead& read : step_.tiles.reads_of(TileId(item.index))) made_by(read.buffer);
    } else if (transfer(item).buffer.valid()) {
      made_by(transfer(item).buffer);
    }
    const double from = end_of_tile(last);
    if (from >= cursor_ || last == nothing) return std::nullopt;
    add({PathStep::What::room, 0, waiting_, from, cursor_});
    return Item{PathStep::What::tile, last};
  }

  std::optional<Item> reason(const Item& item) {
    const std::optional<Item> stated = before(item);
    const double known = stated ? end_of(*stated) : 0;
    if (is_tile(item) || start_of(item) <= known) return stated;
    if (!channels_) channels_.emplace(step_.schedule);
    const std::optional<Item> found = channels_->before(item.index, known);
    return found ? found : stated;
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
      case PathStep::What::room: spend(PathTime::room, cycles); break;
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
  std::optional<ChannelUses> channels_;  // made where it is needed
  CriticalPath path_;
  double cursor_ = 0;  // the path is known from here on
  NodeId waiting_;     // of what starts there
  static constexpr std::uint32_t nothing = 0xffffffffU;
  std::uint32_t tile_ = nothing;         // the last one on the path, as far as it is known
  std::vector<std::uint32_t> previous_;  // by tile
};

}  // namespace

std::string_view name_of(PathTime time) {
  static constexpr std::array<std::string_view, path_times> names = {
      "compute",    "stall",        "load",     "fill",    "slowed", "fetch",
      "write back", "core to core", "page out", "page in", "room",   "wait"};
  return names[static_cast<std::size_t>(time)];
}

PathTime time_of(TransferKind kind) {
  return static_cast<PathTime>(static_cast<std::size_t>(PathTime::fetch) + static_cast<std::size_t>(kind));
}

CriticalPath critical_path(const ScheduledStep& step, std::span<const NodeId> owners) {
  return Walk(step, owners).run();
}

}  // namespace monet
