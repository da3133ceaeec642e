#include "mapping/outlook.h"

#include <algorithm>
#include <cmath>

namespace monet {

namespace {

// Sets of one operand: all of ten different pieces. Beyond it finding them may take longer than the search.
constexpr std::size_t most_sets = 1024;

bool indexes(const FrameOperand& operand, std::size_t loop) { return (operand.relevant >> loop & 1U) != 0; }

// A partial sum that is narrower than a result: then bringing it back may be cheaper than not to.
bool has_narrow_sums(const FrameOperand& operand) {
  if (!operand.accumulates) return false;
  return std::any_of(operand.bits.begin(), operand.bits.begin() + operand.levels,
                     [&](double bits) { return operand.partial_bits < bits; });
}

}  // namespace

// Where loops add to a result, the lowest level holds partial sums.
double Outlook::least_bits(std::size_t o, std::size_t level, const TileSize& tile) const {
  const FrameOperand& operand = frame_->operand[o];
  const bool partial = level == 0 && operand.written && operand.accumulates && distinct_[o] < frame_->iterations;
  const bool twice = frame_->target->memories[operand.memory[level]].double_buffered;
  return tile.most[level] * (partial ? operand.partial_bits : operand.bits[level]) * (twice ? 2 : 1);
}

void Outlook::find_room() {
  std::array<double, max_frame_memories> taken{};
  std::array<std::array<double, max_frame_levels>, max_frame_operands> own{};
  Extents one, all;
  one.fill(1);
  for (std::size_t i = 0; i < frame_->loops; ++i) all[i] = static_cast<double>(frame_->unrolling->iterations[i]);
  for (std::size_t o = 0; o < frame_->operands; ++o) {
    const FrameOperand& operand = frame_->operand[o];
    distinct_[o] = 1;
    for (std::size_t i = 0; i < frame_->loops; ++i) {
      if (indexes(operand, i)) distinct_[o] *= all[i];
    }
    const TileSize point = tile_size(*frame_, o, one.data(), one.data());
    for (std::size_t level = 0; level + 1U < operand.levels; ++level) {
      own[o][level] = least_bits(o, level, point);
      taken[operand.memory[level]] += own[o][level];
    }
    const std::size_t home = operand.levels - 1U;
    const double whole = tile_size(*frame_, o, all.data(), all.data()).most[home] * operand.bits[home];
    taken[operand.memory[home]] += operand.piece_bits > 0 ? operand.piece_bits : whole;
  }
  for (std::size_t o = 0; o < frame_->operands; ++o) {
    const FrameOperand& operand = frame_->operand[o];
    for (std::size_t level = 0; level + 1U < operand.levels; ++level) {
      const std::uint8_t memory = operand.memory[level];
      const double others = taken[memory] - own[o][level];
      // Sums of the same parts in another order may differ in the last digits.
      room_[o][level] = (static_cast<double>(frame_->target->memories[memory].size_bits) - others) * (1 + 1e-9);
    }
  }
}

void Outlook::reset(const Frame& frame, std::span<const Factor> kinds, std::span<const std::size_t> counts) {
  frame_ = &frame;
  kinds_ = kinds.size();
  costs_.clear();
  if (kinds_ == 0) return;
  find_room();
  std::vector<Size> sizes;
  for (std::size_t o = 0; o < frame.operands; ++o) {
    const FrameOperand& operand = frame.operand[o];
    sizes.clear();
    std::size_t sets = 1;
    for (std::size_t k = 0; k < kinds.size(); ++k) {
      step_[o][k] = 0;
      if (!indexes(operand, kinds[k].loop) || sets > most_sets) continue;
      step_[o][k] = static_cast<std::uint16_t>(sets);
      sizes.push_back({counts[k], sets, kinds[k]});
      sets *= counts[k] + 1;
    }
    first_[o] = costs_.size();
    known_[o] = sets <= most_sets && !has_narrow_sums(operand);
    if (known_[o]) {
      look(o, sizes, sets);
    } else {
      std::ranges::fill(step_[o], std::uint16_t{0});
    }
  }
}

void Outlook::look(std::size_t o, std::span<const Size> sizes, std::size_t sets) {
  const std::size_t levels = frame_->operand[o].levels;
  costs_.resize(first_[o] + sets * levels);
  Extents average, most, whole, all;
  for (std::size_t i = 0; i < frame_->loops; ++i) all[i] = static_cast<double>(frame_->unrolling->iterations[i]);
  const auto digit = [](const Size& size, std::size_t set) { return set / size.step % (size.count + 1); };
  for (std::size_t set = sets; set-- > 0;) {
    // Loops that it ignores are all below: then what is below is fetched least often.
    std::copy_n(all.begin(), frame_->loops, average.begin());
    std::copy_n(all.begin(), frame_->loops, most.begin());
    std::fill_n(whole.begin(), frame_->loops, 1);
    for (const Size& size : sizes) most[size.factor.loop] = 1;
    for (const Size& size : sizes) {
      const std::size_t loop = size.factor.loop;
      const std::size_t placed = digit(size, set);
      for (std::size_t i = 0; i < placed; ++i) {
        most[loop] = std::min(all[loop], most[loop] * static_cast<double>(size.factor.size));
      }
      if (placed < size.count) whole[loop] = 0;
    }
    for (const Size& size : sizes) {
      const std::size_t loop = size.factor.loop;
      if (whole[loop] > 0) most[loop] = all[loop];
      average[loop] = all[loop] / std::ceil(all[loop] / most[loop]);
    }
    LeastCost* const costs = &costs_[first_[o] + set * levels];
    std::fill_n(costs, levels, LeastCost{});
    add_costs(o, average, most, costs);
    for (const Size& size : sizes) {
      if (digit(size, set) == size.count) continue;
      const LeastCost* const more = costs + size.step * levels;
      for (std::size_t level = 0; level + 1U < levels; ++level) costs[level].include(more[level]);
    }
  }
}

void Outlook::add_costs(std::size_t o, const Extents& average, const Extents& most, LeastCost* costs) const {
  const FrameOperand& operand = frame_->operand[o];
  const TileSize tile = tile_size(*frame_, o, average.data(), most.data());
  double product = 1;
  double below = 1;
  for (std::size_t i = 0; i < frame_->loops; ++i) {
    product *= average[i];
    if (indexes(operand, i)) below *= average[i];
  }
  const double above = frame_->iterations / product;
  const double period = product * frame_->cycles_per_point;
  for (std::size_t level = 0; level + 1U < operand.levels; ++level) {
    const double bits = least_bits(o, level, tile);
    if (bits > room_[o][level]) continue;
    const bool doubled = frame_->target->memories[operand.memory[level]].double_buffered || 2 * bits <= room_[o][level];
    costs[level].include(link_cost(*frame_, o, level, tile, above, distinct_[o] / below, period, period), doubled);
  }
}

}  // namespace monet
