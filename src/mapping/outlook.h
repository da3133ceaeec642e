// What the links of an operand cost at least from some place in an order of loops on. The pieces of loops that lie
// below a cut are a set, whatever their order: of all sets that may yet come, those that fit the memory beside the
// least of all others are looked at, and each link takes the best of them for itself.
#pragma once

#include "mapping/factors.h"
#include "mapping/order.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace monet {

class Outlook {
 public:
  // Nothing is known.
  void clear() { kinds_ = 0; }
  // For all orders of these pieces, each so many times, innermost first; what is not among them comes outside. Cost: a
  // link for every set of pieces that an operand depends on; of operands with too many of them nothing is known.
  void reset(const Frame& frame, std::span<const Factor> kinds, std::span<const std::size_t> counts);

  bool knows(std::size_t operand) const { return kinds_ > 0 && known_[operand]; }
  // Sets of an operand are numbered: 0 is the empty one, and a piece adds a step.
  std::uint16_t step(std::size_t operand, std::size_t kind) const { return kinds_ > 0 ? step_[operand][kind] : 0; }
  // Over this set and all that contain it.
  const LeastCost& least(std::size_t operand, std::size_t level, std::uint16_t set) const {
    return costs_[first_[operand] + std::size_t{set} * frame_->operand[operand].levels + level];
  }

 private:
  using Extents = std::array<double, max_frame_loops>;
  struct Size {
    std::size_t count = 0;
    std::size_t step = 0;
    Factor factor;
  };

  void find_room();
  void look(std::size_t operand, std::span<const Size> sizes, std::size_t sets);
  void add_costs(std::size_t operand, const Extents& average, const Extents& most, LeastCost* costs) const;
  double least_bits(std::size_t operand, std::size_t level, const TileSize& tile) const;

  const Frame* frame_ = nullptr;
  std::size_t kinds_ = 0;
  std::array<bool, max_frame_operands> known_{};
  std::array<std::size_t, max_frame_operands> first_{};
  std::array<std::array<std::uint16_t, max_factors>, max_frame_operands> step_{};
  std::array<double, max_frame_operands> distinct_{};  // iterations of the loops it depends on
  // Of its memory, beside what the others need there at least: by operand and level.
  std::array<std::array<double, max_frame_levels>, max_frame_operands> room_{};
  std::vector<LeastCost> costs_;
};

}  // namespace monet
