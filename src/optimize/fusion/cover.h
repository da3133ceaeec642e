// The cheapest choice of sets such that every operator is in exactly one and the sets can run one after the other.
//
// Sets that share operators belong together; what remains falls into parts that are solved by themselves: by dynamic
// programming over the order of the operators where few combinations are open at a time, else as an integer program.
// Rings of sets that wait for each other are cut off when they occur, and the parts they run through are then solved
// together. Parts of equal content are solved once. A part that is too large is cut into neighbouring pieces; then the
// bound is that of the whole part's linear relaxation.
#pragma once

#include "optimize/fusion/candidates.h"

#include <functional>
#include <limits>
#include <span>
#include <vector>

namespace monet::fusion {

struct CoverOptions {
  // Techniques; none of them changes the cost of the answer.
  bool dominance = true;  // leave out sets that cost no less than their operators in smaller ones
  bool decompose = true;  // into parts
  bool repeat = true;     // parts of equal content once
  bool dynamic = true;    // dynamic programming
  bool lift = true;       // a cut holds for all sets with the same two operators of the ring

  std::size_t part_operators = 800;  // larger parts are cut into pieces
  std::size_t part_sets = 30000;
  std::size_t states = 100000;  // of dynamic programming, at once
  double time_limit_s = std::numeric_limits<double>::infinity();
  std::function<bool()> stop;  // asked all the time: what is not solved by then stays single
};

struct Cover {
  std::vector<std::uint32_t> chosen;  // in Candidates::sets, in order
  double cost = 0;
  double bound = 0;     // no choice of these sets costs less
  bool proven = false;  // cost is the least
  std::size_t parts = 0, solved = 0, programs = 0, cuts = 0;
};

// `costs` by set: finite and not negative; infinity: the set is out of the question. Single ones must be possible.
Cover cover(const Problem& problem, const Candidates& candidates, std::span<const double> costs,
            const CoverOptions& options = {});

}  // namespace monet::fusion
