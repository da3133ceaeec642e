// What tiles wait for before they may be placed: their inputs, the sum that they add to, and operators after which
// theirs comes.
#pragma once

#include "evaluate/schedule/moment.h"
#include "evaluate/schedule/readers.h"
#include "evaluate/schedule/ready_queue.h"
#include "evaluate/schedule/scheduler.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace monet::scheduling {

// An operator, and one that waits for all its tiles.
using NodePair = std::pair<NodeId, NodeId>;

class Precedence {
 public:
  // `after`: beside those that replace a value after its readers. Until a tile is placed, its record in `tiles` holds
  // when the last of what it waits for was there; then it is offered to `ready`, if there is one.
  Precedence(const ScheduleInput& input, const Readers& readers, std::vector<NodePair> after,
             std::vector<ScheduledTile>& tiles, ReadyQueue* ready);

  // All of a buffer is made.
  void complete(BufferId buffer, const Moment& made);
  void finish(TileId tile, const Moment& made);

 private:
  void find_replaced();
  void find_sums();
  // One of the things that a tile waits for.
  void arrive(TileId tile, const Moment& moment);

  const ScheduleInput& in_;
  const Readers& readers_;
  std::vector<ScheduledTile>& tiles_;
  ReadyQueue* ready_;
  std::vector<std::uint32_t> waits_for_;                       // by tile: how many things
  std::vector<std::pair<std::uint32_t, std::uint32_t>> sums_;  // a tile, and the one that adds to its sum
  std::vector<NodePair> after_;
  std::vector<std::pair<std::uint32_t, Moment>> left_of_;  // by node: tiles not placed yet, and the end of the others
};

}  // namespace monet::scheduling
