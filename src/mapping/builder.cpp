#include "mapping/builder.h"

#include <algorithm>
#include <cmath>

namespace monet {

namespace {

bool depends(const FrameOperand& operand, std::size_t loop) { return (operand.relevant >> loop & 1U) != 0; }

}  // namespace

void OrderBuilder::reset(const Frame& frame) {
  frame_ = &frame;
  candidates_.clear(frame.loops);
  outlook_.clear();
  depth_ = 0;
  order_.clear();
  last_.clear();
  State& first = state_[0];
  first.average.fill(1);
  first.most.fill(1);
  first.idle.fill(1);
  first.below.fill(0);
  first.extents = 0;
  for (std::size_t i = 0; i < frame.loops; ++i) first.extents += CandidateTable::hash_of_extent(i, first.most[i]);
  std::array<double, max_frame_loops> all;
  for (std::size_t i = 0; i < frame.loops; ++i) all[i] = static_cast<double>(frame.unrolling->iterations[i]);
  for (std::size_t o = 0; o < frame.operands; ++o) {
    const FrameOperand& operand = frame.operand[o];
    distinct_[o] = 1;
    bool reduced = false;
    for (std::size_t i = 0; i < frame.loops; ++i) {
      if (depends(operand, i)) {
        distinct_[o] *= all[i];
      } else {
        reduced |= all[i] > 1;
      }
    }
    const TileSize whole = tile_size(frame, o, all.data(), all.data());
    for (std::size_t level = 0; level + 1U < operand.levels; ++level) {
      // All of it once, streaming: nothing waits for more than the first point needs.
      LinkCost once = link_cost(frame, o, level, whole, 1, 1, frame.iterations, frame.iterations);
      once.exposed_double = 0;
      once.load = operand.first_cycles[level];
      compulsory_[o][level] = {};
      compulsory_[o][level].include(once, true);
      first.least[o][level] = {};
    }
    first.open[o] = static_cast<std::uint8_t>((1U << operand.levels) - 1);
    const TileSize point = tile_size(frame, o, first.average.data(), first.most.data());
    const bool keeps = operand.latched;
    least_unit_[o] = unit_cost(frame, o, point, keeps ? frame.iterations / distinct_[o] : 1,
                               operand.accumulates && reduced, distinct_[o]);
    cuts_[o].reduced_until = 0;
    cuts_[o].count = 0;
  }
}

void OrderBuilder::set_unit(std::size_t o, double stationary) {
  const FrameOperand& operand = frame_->operand[o];
  const TileSize point = tile_size(*frame_, o, state_[0].average.data(), state_[0].most.data());
  const bool reduced = operand.accumulates && distinct_[o] < frame_->iterations;
  cuts_[o].unit = unit_cost(*frame_, o, point, operand.latched ? stationary : 1, reduced, distinct_[o]);
}

// A cut at the present depth: what lies below is one tile.
void OrderBuilder::add_candidate(std::size_t o) {
  const State& state = state_[depth_];
  OperandCuts& cuts = cuts_[o];
  if (cuts.count == 0) set_unit(o, state.idle[o]);
  const CandidateTable::Key key{.operand = static_cast<std::uint32_t>(o),
                                .depth = static_cast<std::uint32_t>(depth_),
                                .product = state.product,
                                .idle = state.idle[o],
                                .most = state.most.data(),
                                .extents = state.extents};
  cuts.candidate[cuts.count++] = &candidates_.find(key, [&](Candidate& made) { make_candidate(o, made); });
}

void OrderBuilder::make_candidate(std::size_t o, Candidate& candidate) const {
  const State& state = state_[depth_];
  const FrameOperand& operand = frame_->operand[o];
  candidate.cut = static_cast<std::uint8_t>(depth_);
  candidate.complete = 0;
  for (std::size_t i = 0; i < frame_->loops; ++i) {
    const bool all = state.average[i] >= static_cast<double>(frame_->unrolling->iterations[i]);
    if (all) candidate.complete |= 1U << i;
  }
  candidate.tile = tile_size(*frame_, o, state.average.data(), state.most.data());
  const double above = frame_->iterations / state.product;
  double below_distinct = 1;
  for (std::size_t i = 0; i < frame_->loops; ++i) {
    if (depends(operand, i)) below_distinct *= state.average[i];
  }
  const double distinct = distinct_[o] / below_distinct;
  const double period = state.product * frame_->cycles_per_point;
  for (std::size_t level = 0; level + 1U < operand.levels; ++level) {
    candidate.links[level] =
        link_cost(*frame_, o, level, candidate.tile, above, distinct, period, period / state.idle[o]);
  }
}

void OrderBuilder::look_ahead(std::span<const Factor> kinds, std::span<const std::size_t> counts) {
  outlook_.reset(*frame_, kinds, counts);
}

void OrderBuilder::push(std::uint8_t loop, std::int64_t size, bool last, std::size_t kind) {
  const State& from = state_[depth_];
  State& to = state_[depth_ + 1];
  // Only what this frame uses: the rest of a state is large.
  std::copy_n(from.average.begin(), frame_->loops, to.average.begin());
  std::copy_n(from.most.begin(), frame_->loops, to.most.begin());
  for (std::size_t o = 0; o < frame_->operands; ++o) {
    to.idle[o] = from.idle[o];
    to.open[o] = from.open[o];
    to.below[o] = static_cast<std::uint16_t>(from.below[o] + outlook_.step(o, kind));
    std::copy_n(from.least[o].begin(), frame_->operand[o].levels, to.least[o].begin());
  }
  const auto all = static_cast<double>(frame_->unrolling->iterations[loop]);
  to.most[loop] = last ? all : std::min(all, from.most[loop] * static_cast<double>(size));
  to.extents = from.extents - CandidateTable::hash_of_extent(loop, from.most[loop]) +
               CandidateTable::hash_of_extent(loop, to.most[loop]);
  // So many pieces of this size cover the loop; the last may be smaller.
  to.average[loop] = all / std::ceil(all / to.most[loop]);
  const double average = to.average[loop] / from.average[loop];
  to.product = from.product * average;
  for (std::size_t o = 0; o < frame_->operands; ++o) {
    const FrameOperand& operand = frame_->operand[o];
    if (!depends(operand, loop)) {
      to.idle[o] = from.idle[o] * average;
      if (operand.accumulates) cuts_[o].reduced_until = static_cast<std::uint8_t>(depth_ + 1);
      continue;
    }
    add_candidate(o);
    to.idle[o] = 1;
    const Candidate& candidate = *cuts_[o].candidate[cuts_[o].count - 1];
    for (std::size_t level = 0; level + 1U < operand.levels; ++level) {
      const TargetMemory& memory = frame_->target->memories[operand.memory[level]];
      const auto size_bits = static_cast<double>(memory.size_bits);
      const double bits = candidate.tile.most[level] * operand.bits[level];
      if (bits > size_bits) {
        to.open[o] &= static_cast<std::uint8_t>(~(1U << level));
      } else {
        to.least[o][level].include(candidate.links[level], memory.double_buffered || 2 * bits <= size_bits);
      }
    }
  }
  last_.push_back(last);
  const double steps = std::ceil(to.most[loop] / from.most[loop]);
  order_.push_back({loop, static_cast<std::int64_t>(steps), average});
  ++depth_;
}

void OrderBuilder::pop() {
  --depth_;
  const std::uint8_t loop = order_.back().loop;
  order_.pop_back();
  last_.pop_back();
  for (std::size_t o = 0; o < frame_->operands; ++o) {
    if (depends(frame_->operand[o], loop)) --cuts_[o].count;
    if (cuts_[o].reduced_until <= depth_) continue;
    // The last loop that adds to it, among those that are left.
    cuts_[o].reduced_until = 0;
    for (std::size_t i = depth_; i-- > 0;) {
      if (!depends(frame_->operand[o], order_[i].loop)) {
        cuts_[o].reduced_until = static_cast<std::uint8_t>(i + 1);
        break;
      }
    }
  }
}

// Whether no piece of the same loop comes outside.
bool OrderBuilder::is_last(const std::vector<Factor>& order, std::size_t at) {
  return std::none_of(order.begin() + static_cast<std::ptrdiff_t>(at) + 1, order.end(),
                      [&](const Factor& other) { return other.loop == order[at].loop; });
}

// How many of the loops are those of the order already; the others go.
std::size_t OrderBuilder::keep_common(const std::vector<Factor>& order) {
  std::size_t same = 0;
  while (same < std::min(depth_, order.size()) && order_[same].loop == order[same].loop &&
         last_[same] == is_last(order, same) && (last_[same] || order_[same].size == order[same].size)) {
    ++same;
  }
  while (depth_ > same) pop();
  return same;
}

void OrderBuilder::finish() {
  for (std::size_t o = 0; o < frame_->operands; ++o) add_candidate(o);
}

void OrderBuilder::unfinish() {
  for (std::size_t o = 0; o < frame_->operands; ++o) --cuts_[o].count;
}

LeastCost OrderBuilder::least_link(std::size_t o, std::size_t level) const {
  LeastCost least = state_[depth_].least[o][level];
  if (outlook_.knows(o)) {
    least.include(outlook_.least(o, level, state_[depth_].below[o]));
    return least;
  }
  if ((state_[depth_].open[o] >> level & 1U) == 0) return least;
  least.include(compulsory_[o][level]);
  return least;
}

double OrderBuilder::least_energy() const {
  double energy = frame_->compute_pj;
  for (std::size_t o = 0; o < frame_->operands; ++o) {
    energy += cuts_[o].count > 0 ? cuts_[o].unit.energy_pj : least_unit_[o].energy_pj;
    for (std::size_t level = 0; level + 1U < frame_->operand[o].levels; ++level) {
      energy += least_link(o, level).energy_pj;
    }
  }
  return energy;
}

double OrderBuilder::least_cycles() const {
  LeastTime time(*frame_);
  for (std::size_t o = 0; o < frame_->operands; ++o) {
    time.add_unit(o, cuts_[o].count > 0 ? cuts_[o].unit : least_unit_[o]);
    for (std::size_t level = 0; level + 1U < frame_->operand[o].levels; ++level) {
      time.add(o, level, least_link(o, level));
    }
  }
  return time.cycles();
}

}  // namespace monet
