// One nest of an operator, or of a tile of it, as the mapping sees it: loops, and the operands that they index. What
// does not change the cost (names, which tensor) is not in it, so that equal problems are found by comparing them.
#pragma once

#include "graph/nests.h"
#include "hardware/hardware.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace monet {

// Along one axis of an operand: distinct positions of floor((sum of factor * loop + …) / divisor), `span` from each, at
// most `limit`. Two terms with different loops is a sliding window.
struct ProblemAxis {
  std::vector<Term> terms;  // loops as indices into Problem::loops
  std::int64_t divisor = 1;
  std::int64_t span = 1;
  std::int64_t limit = 1;  // positions the axis has: padding is not read
  bool scattered = false;  // the positions depend on data: a new one at each point, at most `limit` different ones

  bool operator==(const ProblemAxis&) const = default;
};

struct ProblemOperand {
  Path path = Path::input;
  bool written = false;      // an output; else read only
  bool accumulates = false;  // partial sums: loops that it does not index add to it
  bool continues = false;    // and what it adds to is already there
  // Of one element in registers, where scales and filled-up groups are not held; 0: as `bits`.
  std::uint16_t register_bits = 0;
  // Made or read by an earlier nest of the operator, in pieces of so many bits that the nests can do one after the
  // other: a core that holds a piece need not fetch it again. 0: comes from outside, or goes there.
  std::int64_t piece_bits = 0;
  double bits = 0;  // of one element as it is stored, with its share of the scales and of filled-up groups
  std::int64_t partial_bits = 0;  // of one partial sum
  std::vector<ProblemAxis> axes;

  bool operator==(const ProblemOperand&) const = default;
  // Of one element in a memory of this kind.
  double bits_in(MemoryKind kind) const {
    return kind == MemoryKind::registers && register_bits > 0 ? register_bits : bits;
  }
  // Bit i: its elements depend on loop i.
  std::uint32_t relevant() const;
};

// In which other numbers than its own a problem may run, where a unit has none that hold them.
enum class Leeway : std::uint8_t {
  none,
  any,     // it only counts: indices, labels, masks
  blocks,  // a product that a recipe has in blocks, though its operands are none
};

struct Problem {
  std::vector<Loop> loops;  // sizes at least 2, apart from a problem of one point
  std::vector<ProblemOperand> operands;
  Counts per_point;
  std::string precision;  // of the numbers it works on: "fp32", "bf16", "int8" …
  Leeway leeway = Leeway::none;

  bool operator==(const Problem&) const = default;
  double points() const;
};

// Distinct positions that the loops, at the extents given (one for each loop of the problem), reach along an axis.
double positions(const ProblemAxis& axis, std::span<const double> extents);
// Elements of an operand that the loops at these extents touch.
double elements(const ProblemOperand& operand, std::span<const double> extents);

constexpr std::size_t max_problem_loops = 16;

}  // namespace monet
