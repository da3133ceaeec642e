// Which tile comes next: of the cores that could go on first, the one with the lowest number takes, of the tiles whose
// inputs are there by then, the one that comes first in the order.
#pragma once

#include "evaluate/schedule/moment.h"

#include <cstdint>
#include <optional>
#include <queue>
#include <span>
#include <vector>

namespace monet::scheduling {

class ReadyQueue {
 public:
  // `rank`: by tile, its place in the order; it must outlive the queue.
  ReadyQueue(std::size_t cores, std::span<const std::uint32_t> rank)
      : cores_(cores), announced_(cores, never), rank_(rank) {}

  // A tile of that core has all its inputs from then on.
  void offer(TileId tile, CoreId core, double at);
  // The core takes no other tile before.
  void set_busy(CoreId core, double until);
  // Takes it; nothing: no tile is ready.
  std::optional<TileId> next();

 private:
  struct Ready {
    double at;
    std::uint32_t rank;
    std::uint32_t tile;
  };
  struct LaterReady {
    bool operator()(const Ready& a, const Ready& b) const { return a.at != b.at ? a.at > b.at : a.rank > b.rank; }
  };
  struct LaterRank {
    bool operator()(const Ready& a, const Ready& b) const { return a.rank > b.rank; }
  };
  struct CoreQueue {
    double free = 0;
    std::priority_queue<Ready, std::vector<Ready>, LaterReady> coming;
    std::priority_queue<Ready, std::vector<Ready>, LaterRank> waiting;
  };
  struct Turn {
    double at;
    std::uint32_t core;
    bool operator<(const Turn& other) const { return at != other.at ? at > other.at : core > other.core; }
  };

  // When a core can take its next tile.
  void announce(std::size_t core);

  std::vector<CoreQueue> cores_;
  std::vector<double> announced_;    // by core: its turn
  std::priority_queue<Turn> turns_;  // those that are announced, and some that were
  std::span<const std::uint32_t> rank_;
};

}  // namespace monet::scheduling
