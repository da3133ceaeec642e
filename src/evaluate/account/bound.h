// What no plan and no schedule can do better than.
//
// A longest path of operators is not among the bounds: tile by tile, an operator may run along with those it depends
// on.
#pragma once

#include "evaluate/account/step.h"
#include "evaluate/cost/operator_bound.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace monet {

// What must cross between home memory and the cores however the step is run: each element that the step begins with and
// some operator reads comes at least once; each tensor that is updated goes back once. Zero where a core works right in
// its home memory.
struct Compulsory {
  double read_bits = 0, written_bits = 0;
};
Compulsory compulsory_traffic(const ScheduledStep& step);

struct Bounds {
  double cycles = 0;
  std::string by;  // what takes so long
  double pj = 0;   // operators, compulsory accesses of home memory, and static energy for as long as `cycles`
};

// What has to go to home memory and come back from it: across some moment of the step more is kept than all memories on
// chip have room for. Zero where tensors are paged elsewhere.
Compulsory returning_traffic(const ScheduledStep& step);

// Which plans a bound is for.
enum class BoundFor : std::uint8_t {
  this_step,        // all that run these operators
  recomputed_steps  // also those that run some of them again
};

// The largest of: for every set of cores, the operators that may run nowhere else, spread evenly over it; compulsory
// and returning traffic through the ports, and through the links, of home memories. `operators` by node.
Bounds bounds_of(const ScheduledStep& step, std::span<const OperatorBound> operators,
                 BoundFor plans = BoundFor::this_step);

// No schedule of these tiles on these cores takes less: the longest chain of tiles that need each other, or the core
// that has most to do.
double least_cycles(const ScheduledStep& step);

}  // namespace monet
