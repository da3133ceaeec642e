// Costs of one order of loops in time: the choice of cuts for every operand and level, exactly.
#pragma once

#include "mapping/frame.h"
#include "mapping/search.h"

#include <array>
#include <limits>
#include <vector>

namespace monet {

constexpr std::size_t max_factors = 16;

// What is minimized: first the first number, then the second. Numbers that differ in the last digits only are equal:
// they are sums of the same parts in another order.
struct Score {
  double first = std::numeric_limits<double>::infinity();
  double second = std::numeric_limits<double>::infinity();
  bool operator<(const Score& other) const {
    constexpr double digits = 1e-12;
    if (first < other.first * (1 - digits)) return true;
    return first <= other.first * (1 + digits) && second < other.second * (1 - digits);
  }
};
Score score_of(Objective objective, double cycles, double energy_pj);

// How much of a search has been done: the further it is, the more another mapping must be better to be looked for, and
// in the end none is. A million steps take a twentieth of a second; what takes more is after the last thousandth.
struct SearchEffort {
  double steps = 0;

  // What is left out is better by this share at most.
  double slack() const { return steps < 5e5 ? 0 : steps < 2e6 ? 0.001 : 0.01; }
  bool is_spent() const { return steps > 5e6; }
  // Whether something with this score, or better, would be worth finding.
  bool is_worth(const Score& score, const Score& best) const {
    const double share = slack();
    return share == 0 ? score < best : score.first < best.first * (1 - share);
  }
};

// A place where an operand may be cut: below the loops that it depends on, or below nothing.
struct Candidate {
  std::uint8_t cut = 0;
  std::uint32_t complete = 0;  // loops all of whose iterations lie below
  TileSize tile;
  std::array<LinkCost, max_frame_levels> links;  // above each level but the last
};

// Candidates of one operand in one order, smallest cut first; the last one is below no loop.
struct OperandCuts {
  std::size_t count = 0;
  std::array<const Candidate*, max_factors + 1> candidate;
  LinkCost unit;
  // Loops up to the last one that adds to the output: what comes from a lower cut is a partial sum.
  std::uint8_t reduced_until = 0;
};
using OrderCuts = std::array<OperandCuts, max_frame_operands>;

struct Latency {
  double cycles = 0;  // compute + stall + load + unload + fixed, or the busiest port where that is more
  double stall = 0;
  double load = 0;
  double unload = 0;
  double busiest = 0;
  std::uint8_t stall_port = 0;
  std::uint8_t load_port = 0;
  std::uint8_t busy_port = 0;
};

// Which candidate each operand takes at each level but its last.
using Cuts = std::array<std::array<std::uint8_t, max_frame_levels>, max_frame_operands>;

// The least that a link can cost, over several candidates.
struct LeastCost {
  double energy_pj = std::numeric_limits<double>::infinity();
  double low_busy = std::numeric_limits<double>::infinity();  // cycles of its ports, all transfers
  double high_busy = std::numeric_limits<double>::infinity();
  double exposed = std::numeric_limits<double>::infinity();
  double load = std::numeric_limits<double>::infinity();
  double low_back = std::numeric_limits<double>::infinity();  // of the ports of the other direction
  double high_back = std::numeric_limits<double>::infinity();
  std::uint8_t low_back_port = 0, high_back_port = 0;  // where one of them has something to do

  // `doubled`: the lower level may hold two tiles.
  void include(const LinkCost& link, bool doubled);
  void include(const LeastCost& other);
};

// What a port is taken for, in cycles.
struct PortTimes {
  double busy, exposed, load, unload;

  double& edge(bool written) { return written ? unload : load; }
};

// Cycles that no choice of cuts can go below, from the least of each link.
class LeastTime {
 public:
  explicit LeastTime(const Frame& frame);
  LeastTime(const LeastTime& other);
  LeastTime& operator=(const LeastTime&) = delete;
  void add_unit(std::size_t operand, const LinkCost& link);
  void add(std::size_t operand, std::size_t level, const LeastCost& least);
  // The link is chosen: what was added for it as `least` becomes what it is.
  void choose(std::size_t operand, std::size_t level, const LeastCost& least, const LinkCost& link, bool doubled);
  double cycles() const;

 private:
  void add_busy(std::size_t operand, std::size_t level, const LeastCost& least, double sign);
  void add_edges(std::size_t operand, std::size_t level, double exposed, double load);

  const Frame* frame_;
  // As many as the frame has of each: the rest is never touched.
  std::array<PortTimes, max_frame_ports> ports_;
  std::array<double, max_frame_operands> chain_;  // loads of an operand, one level after the other
};

// Bits that an operand takes in one instance of a level, where the level below was cut at `cut_below`.
double held_bits(const Frame& frame, const OrderCuts& operands, std::size_t operand, std::size_t level,
                 const TileSize& tile, std::uint8_t cut_below);
double static_pj(const Frame& frame, double cycles);

// Time of a complete choice: what the unit needs, what it waits for, and no less than the busiest port.
Latency latency_of(const Frame& frame, const OrderCuts& operands, const Cuts& cuts);
double energy_of(const Frame& frame, const OrderCuts& operands, const Cuts& cuts, double cycles);

// A decision: which candidate an operand takes at a level.
struct CutDecision {
  std::uint8_t operand, level, memory;
};

// What a search for cuts works with, by decision; large, so that it is made once for many orders.
struct CutWork {
  static constexpr std::size_t max_decisions = max_frame_operands * max_frame_levels;
  std::array<CutDecision, max_decisions> decisions;
  std::array<LeastCost, max_decisions> least;
  std::array<double, max_decisions + 1> least_energy;  // of this one and those after it
  std::array<std::array<double, max_frame_memories>, max_decisions + 1> least_bits;
};

// The best choice of cuts whose score is below `best`; false: there is none. Improves `best` and `cuts`.
struct CutSearch {
  double evaluated = 0;
  bool complete = true;  // false: too many choices, the rest was not looked at
  CutWork work;

  // `effort` counts on.
  bool run(const Frame& frame, const OrderCuts& operands, Objective objective, std::span<const HeldLoops> held,
           SearchEffort& effort, Score& best, Cuts& cuts);
};

}  // namespace monet
