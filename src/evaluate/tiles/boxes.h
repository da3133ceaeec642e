// Sets of positions in several axes counted through as one number, as boxes: what stays small when a view reorders
// them.
#pragma once

#include "evaluate/tiles/index_map.h"

#include <array>
#include <cstdint>
#include <vector>

namespace monet::tiling {

// base + i * step for each of its dimensions, with i in [0, count); steps rise and are positive.
struct Box {
  struct Side {
    std::int64_t count = 1, step = 1;
  };
  static constexpr std::size_t max_rank = 16;

  std::int64_t base = 0;
  std::size_t rank = 0;
  std::array<Side, max_rank> sides;

  // Adds a side, in the order of steps. False when there is no room.
  bool insert(std::int64_t count, std::int64_t step);
  // The same for any step and count; sides that run on become one.
  bool add(std::int64_t count, std::int64_t step);
  void remove(std::size_t side);
};

// Sends boxes through maps. Digits of a position are told apart where a step of the map or an axis needs it: a box
// falls into a few, or into single positions along a side that does not fit; each taking one from `budget`.
class BoxRunner {
 public:
  // Replaces `boxes` by their images. False when the budget is spent.
  bool run(const IndexMap& map, std::vector<Box>& boxes, std::int64_t& budget);
  // Makes every side of every box lie below `boundary` or step in multiples of it.
  bool split(std::int64_t boundary, std::vector<Box>& boxes, std::int64_t& budget);

 private:
  static void swap_digits(const MapStep& step, Box& box);
  bool shift_digit(const MapStep& step, std::vector<Box>& boxes, std::int64_t& budget);
  bool look_up_digit(const MapStep& step, std::vector<Box>& boxes, std::int64_t& budget);

  std::vector<Box> open_;  // that are being worked on
};

}  // namespace monet::tiling
