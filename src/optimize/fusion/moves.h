// Neighbours of a choice of stacks.
#pragma once

#include "optimize/fusion/improve.h"
#include "optimize/fusion/set_table.h"

#include <vector>

namespace monet::fusion {

// Stacks that go and stacks that come instead, over the same operators.
struct Move {
  Stacks out, in;
};

// Those of `stacks`, the ones that concern most of the predicted cost first. A move that suits several stacks of equal
// content is made on all of them that do not overlap. With `sets` false only tiles change.
std::vector<Move> moves_of(const Step& step, const SetTable& table, const Stacks& stacks, Objective objective,
                           bool sets);

// The stacks after the move; nothing when a stack that should go is no longer there, or sets would wait for each other.
std::optional<Stacks> moved(const Step& step, const Stacks& stacks, const Move& move);

}  // namespace monet::fusion
