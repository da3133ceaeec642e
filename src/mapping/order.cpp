#include "mapping/order.h"

#include <algorithm>

namespace monet {

namespace {

// Choices of cuts that one order may look at; more are left out, and the search says so.
constexpr double cut_choice_limit = 20000;

using Decision = CutDecision;

class Choices {
 public:
  Choices(const Frame& frame, const OrderCuts& operands, Objective objective, std::span<const HeldLoops> held,
          SearchEffort& effort, Score& best, Cuts& cuts, CutWork& work)
      : frame_(frame),
        operands_(operands),
        objective_(objective),
        held_(held),
        effort_(effort),
        best_(best),
        result_(cuts),
        decisions_(work.decisions),
        least_(work.least),
        least_energy_(work.least_energy),
        least_bits_(work.least_bits) {
    // Homes first: what is there must be there.
    for (std::size_t m = 0; m < frame.target->memories.size(); ++m) {
      room_[m] = static_cast<double>(frame.target->memories[m].size_bits);
    }
    for (std::size_t o = 0; o < frame.operands; ++o) {
      const std::size_t home = frame.operand[o].levels - 1U;
      const OperandCuts& operand = operands[o];
      room_[frame.operand[o].memory[home]] -=
          held_bits(frame, operands, o, home, operand.candidate[operand.count - 1]->tile, home == 0 ? 0 : frame_full);
    }
    collect();
  }

  bool run() {
    bool feasible = true;
    for (std::size_t m = 0; m < frame_.target->memories.size(); ++m) feasible &= least_bits_[0][m] <= room_[m];
    if (feasible) decide(0, base_energy_, least_time_);
    return improved_;
  }
  double evaluated() const { return evaluated_; }
  bool complete() const { return evaluated_ < cut_choice_limit && visited_ < 20 * cut_choice_limit; }

 private:
  static constexpr std::uint8_t frame_full = 0xff;

  // Decisions by memory, lowest first, with the least energy and space that those still open need.
  void collect() {
    base_energy_ = frame_.compute_pj;
    for (std::size_t o = 0; o < frame_.operands; ++o) base_energy_ += operands_[o].unit.energy_pj;
    for (std::size_t m = 0; m < frame_.target->memories.size(); ++m) {
      for (std::size_t o = 0; o < frame_.operands; ++o) {
        for (std::size_t level = 0; level + 1U < frame_.operand[o].levels; ++level) {
          if (frame_.operand[o].memory[level] != m) continue;
          decisions_[count_++] = {static_cast<std::uint8_t>(o), static_cast<std::uint8_t>(level),
                                  static_cast<std::uint8_t>(m)};
        }
      }
    }
    for (std::size_t o = 0; o < frame_.operands; ++o) least_time_.add_unit(o, operands_[o].unit);
    least_energy_[count_] = 0;
    const std::size_t memories = frame_.target->memories.size();
    std::fill_n(least_bits_[count_].begin(), memories, 0);
    for (std::size_t i = count_; i-- > 0;) {
      const Decision& decision = decisions_[i];
      const OperandCuts& operand = operands_[decision.operand];
      const double room = room_[decision.memory];
      LeastCost& least = least_[i];
      least = {};
      for (std::size_t k = 0; k < operand.count; ++k) {
        const Candidate& candidate = *operand.candidate[k];
        const double bits = held_bits(frame_, operands_, decision.operand, decision.level, candidate.tile, frame_full);
        if (bits > room) continue;
        least.include(candidate.links[decision.level], always_doubled(decision) || 2 * bits <= room);
      }
      least_time_.add(decision.operand, decision.level, least);
      least_energy_[i] = least_energy_[i + 1] + least.energy_pj;
      std::copy_n(least_bits_[i + 1].begin(), memories, least_bits_[i].begin());
      least_bits_[i][decision.memory] +=
          held_bits(frame_, operands_, decision.operand, decision.level, operand.candidate[0]->tile, frame_full);
    }
  }

  bool always_doubled(const Decision& decision) const {
    return frame_.target->memories[decision.memory].double_buffered;
  }

  bool hopeless(double energy, const LeastTime& time) const {
    const double cycles = time.cycles();
    return !effort_.is_worth(score_of(objective_, cycles, energy + static_pj(frame_, cycles)), best_);
  }

  bool as_prescribed(const Decision& decision, const Candidate& candidate) const {
    return std::ranges::all_of(held_, [&](const HeldLoops& held) {
      const bool here = held.memory == decision.memory && held.path == frame_.operand[decision.operand].path;
      return !here || (held.loops & ~candidate.complete) == 0;
    });
  }

  // What a home must hold beyond the finished elements, where partial sums come to it from this cut.
  double partial_bits_at_home(const Decision& decision, std::uint8_t cut) const {
    const FrameOperand& operand = frame_.operand[decision.operand];
    const std::size_t home = operand.levels - 1U;
    if (decision.level + 1U != home || !operand.accumulates) return 0;
    const OperandCuts& cuts = operands_[decision.operand];
    const TileSize& whole = cuts.candidate[cuts.count - 1]->tile;
    return held_bits(frame_, operands_, decision.operand, home, whole, cut) -
           held_bits(frame_, operands_, decision.operand, home, whole, frame_full);
  }

  // `energy` of what is chosen, and the least time of all given that.
  void decide(std::size_t i, double energy, const LeastTime& time) {
    ++effort_.steps;
    if (++visited_ > 20 * cut_choice_limit || evaluated_ >= cut_choice_limit) return;
    if (hopeless(energy + least_energy_[i], time)) return;
    if (i == count_) return evaluate();
    const Decision& decision = decisions_[i];
    const OperandCuts& operand = operands_[decision.operand];
    const std::size_t lowest = decision.level > 0 ? choice_[decision.operand][decision.level - 1U] : 0;
    const std::uint8_t below = decision.level > 0 ? operand.candidate[lowest]->cut : 0;
    for (std::size_t k = operand.count; k-- > lowest;) {
      const Candidate& candidate = *operand.candidate[k];
      if (!held_.empty() && !as_prescribed(decision, candidate)) continue;
      const double bits = held_bits(frame_, operands_, decision.operand, decision.level, candidate.tile, below);
      double& room = room_[decision.memory];
      if (bits + least_bits_[i + 1][decision.memory] > room) continue;
      const double partial = partial_bits_at_home(decision, candidate.cut);
      const FrameOperand& at = frame_.operand[decision.operand];
      double& room_at_home = room_[at.memory[at.levels - 1U]];
      if (partial > 0 && partial + least_bits_[i + 1][at.memory[at.levels - 1U]] > room_at_home) continue;
      room -= bits;
      room_at_home -= partial;
      choice_[decision.operand][decision.level] = static_cast<std::uint8_t>(k);
      const LinkCost& link = candidate.links[decision.level];
      const bool doubled = always_doubled(decision) || bits + least_bits_[i + 1][decision.memory] <= room;
      LeastTime next = time;
      next.choose(decision.operand, decision.level, least_[i], link, doubled);
      decide(i + 1, energy + link.energy_pj, next);
      room_at_home += partial;
      room += bits;
    }
  }

  void evaluate() {
    ++evaluated_;
    const Latency latency = latency_of(frame_, operands_, choice_);
    const Score score = score_of(objective_, latency.cycles, energy_of(frame_, operands_, choice_, latency.cycles));
    if (!(score < best_)) return;
    best_ = score;
    result_ = choice_;
    improved_ = true;
  }

  const Frame& frame_;
  const OrderCuts& operands_;
  Objective objective_;
  std::span<const HeldLoops> held_;
  SearchEffort& effort_;
  Score& best_;
  Cuts& result_;
  Cuts choice_{};
  std::size_t count_ = 0;
  decltype(CutWork::decisions)& decisions_;
  decltype(CutWork::least)& least_;
  decltype(CutWork::least_energy)& least_energy_;
  decltype(CutWork::least_bits)& least_bits_;
  std::array<double, max_frame_memories> room_{};
  double base_energy_ = 0;
  LeastTime least_time_{frame_};
  double evaluated_ = 0;
  double visited_ = 0;
  bool improved_ = false;
};

}  // namespace

bool CutSearch::run(const Frame& frame, const OrderCuts& operands, Objective objective, std::span<const HeldLoops> held,
                    SearchEffort& effort, Score& best, Cuts& cuts) {
  Choices choices(frame, operands, objective, held, effort, best, cuts, work);
  const bool improved = choices.run();
  evaluated += choices.evaluated();
  complete &= choices.complete();
  return improved;
}

}  // namespace monet
