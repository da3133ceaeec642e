#include "evaluate/schedule/ready_queue.h"

#include <algorithm>

namespace monet::scheduling {

void ReadyQueue::offer(TileId tile, CoreId core, double at) {
  cores_[core.index()].coming.push({at, rank_[tile.index()], static_cast<std::uint32_t>(tile.index())});
  announce(core.index());
}

void ReadyQueue::set_busy(CoreId core, double until) {
  cores_[core.index()].free = until;
  announce(core.index());
}

std::optional<TileId> ReadyQueue::next() {
  while (!turns_.empty()) {
    const Turn turn = turns_.top();
    turns_.pop();
    if (turn.at != announced_[turn.core]) continue;
    announced_[turn.core] = never;
    CoreQueue& core = cores_[turn.core];
    while (!core.coming.empty() && core.coming.top().at <= turn.at) {
      core.waiting.push(core.coming.top());
      core.coming.pop();
    }
    const TileId tile(core.waiting.top().tile);
    core.waiting.pop();
    return tile;
  }
  return std::nullopt;
}

void ReadyQueue::announce(std::size_t core) {
  const CoreQueue& queue = cores_[core];
  double at = never;
  if (!queue.waiting.empty()) {
    at = queue.free;
  } else if (!queue.coming.empty()) {
    at = std::max(queue.free, queue.coming.top().at);
  }
  if (at == announced_[core]) return;
  announced_[core] = at;
  if (at < never) turns_.push({at, static_cast<std::uint32_t>(core)});
}

}  // namespace monet::scheduling
