#include "evaluate/account/owners.h"

#include <algorithm>
#include <span>
#include <tuple>

namespace monet {

namespace {

constexpr std::uint32_t nobody = 0xffffffffU;

// Numbers by buffer: each(visit) calls visit(buffer, number) for all of them, the same each time.
class ByBuffer {
 public:
  template <class Each, class Less>
  ByBuffer(std::size_t buffers, const Each& each, const Less& less) : first_(buffers + 1, 0) {
    each([&](BufferId buffer, std::uint32_t) { ++first_[buffer.index() + 1]; });
    for (std::size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
    numbers_.resize(first_.back());
    std::vector<std::uint32_t> next(first_.begin(), first_.end() - 1);
    each([&](BufferId buffer, std::uint32_t number) { numbers_[next[buffer.index()]++] = number; });
    for (std::size_t i = 0; i < buffers; ++i) {
      std::sort(numbers_.begin() + first_[i], numbers_.begin() + first_[i + 1], less);
    }
  }

  std::span<const std::uint32_t> of(std::size_t buffer) const {
    return std::span(numbers_).subspan(first_[buffer], first_[buffer + 1] - first_[buffer]);
  }

 private:
  std::vector<std::uint32_t> first_;
  std::vector<std::uint32_t> numbers_;
};

// The tiles that read each buffer, or add to what is there: the one that starts last comes first.
ByBuffer users_of(const ScheduledStep& step) {
  const TileGraph& tiles = step.tiles;
  const auto each = [&](const auto& visit) {
    for (std::uint32_t i = 0; i < tiles.tiles(); ++i) {
      for (const TileRead& read : tiles.reads_of(TileId(i))) visit(read.buffer, i);
      for (const TileWrite& write : tiles.writes_of(TileId(i))) {
        if (write.adds) visit(write.buffer, i);
      }
    }
  };
  return {tiles.buffers.size(), each, [&](std::uint32_t a, std::uint32_t b) {
            return std::tuple(step.schedule.tiles[a].start, a) > std::tuple(step.schedule.tiles[b].start, b);
          }};
}

// The transfers of each buffer: the one that ends last comes first.
ByBuffer transfers_of(const ScheduledStep& step) {
  const std::vector<ScheduledTransfer>& transfers = step.schedule.transfers;
  const auto each = [&](const auto& visit) {
    for (std::uint32_t i = 0; i < transfers.size(); ++i) {
      if (transfers[i].buffer.valid()) visit(transfers[i].buffer, i);
    }
  };
  return {step.tiles.buffers.size(), each, [&](std::uint32_t a, std::uint32_t b) {
            return std::tuple(transfers[a].end, a) > std::tuple(transfers[b].end, b);
          }};
}

bool brings(TransferKind kind) { return kind != TransferKind::write_back && kind != TransferKind::page_out; }

}  // namespace

std::vector<NodeId> owners_of(const ScheduledStep& step) {
  const auto& [graph, hardware, assignment, tiles, schedule] = step;
  const ByBuffer users = users_of(step), transfers = transfers_of(step);
  std::vector<NodeId> owners(schedule.transfers.size());
  // Going back in time: the next tile that uses the buffer, in each memory of its core.
  std::vector<std::uint32_t> next_in(hardware.memories.size(), nobody);
  for (std::size_t buffer = 0; buffer < tiles.buffers.size(); ++buffer) {
    const std::span<const std::uint32_t> moves = transfers.of(buffer), uses = users.of(buffer);
    if (moves.empty()) continue;
    std::uint32_t next = nobody;
    auto use = uses.begin();
    const TileId maker = tiles.buffers[buffer].maker;
    for (const std::uint32_t i : moves) {
      const ScheduledTransfer& transfer = schedule.transfers[i];
      for (; use != uses.end() && schedule.tiles[*use].start >= transfer.end; ++use) {
        next = *use;
        for (const Level& level : hardware[schedule.tiles[*use].core].levels) next_in[level.memory.index()] = *use;
      }
      std::uint32_t tile = nobody;
      if (brings(transfer.kind)) tile = transfer.kind == TransferKind::page_in ? next : next_in[transfer.to.index()];
      if (tile == nobody && maker.valid()) tile = static_cast<std::uint32_t>(maker.index());
      if (tile == nobody && !uses.empty()) tile = uses.front();
      if (tile != nobody) owners[i] = tiles.node[tile];
    }
    for (auto seen = uses.begin(); seen != use; ++seen) {
      for (const Level& level : hardware[schedule.tiles[*seen].core].levels) next_in[level.memory.index()] = nobody;
    }
  }
  return owners;
}

}  // namespace monet
