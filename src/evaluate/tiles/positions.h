// Sets of positions along one axis of a tensor, as few numbers: what a range of loop iterations touches there.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace monet::tiling {

// `count` runs of `length` neighbours, `step` apart, the first at `start`. Several runs do not touch: step > length.
struct Runs {
  std::int64_t start = 0;
  std::int64_t length = 1;
  std::int64_t step = 1;
  std::int64_t count = 1;

  std::int64_t end() const { return start + step * (count - 1) + length; }
  std::int64_t size() const { return length * count; }
  // How many of the positions are less than `position`.
  std::int64_t below(std::int64_t position) const;
};

// Between those of one set there is no overlap, not even of what lies between their runs; in rising order.
using Positions = std::vector<Runs>;

struct Range {
  std::int64_t begin = 0, end = 0;
};

// factor * loop. `slot`: where in a table of ranges that of the loop is; no_slot: it runs from 0 to `size`.
struct AccessTerm {
  static constexpr std::uint8_t no_slot = 0xff;
  std::uint8_t slot = no_slot;
  std::int64_t size = 1;
  std::int64_t factor = 1;
  bool operator==(const AccessTerm&) const = default;
};

// An AxisIndex (graph/nests.h) of an axis of `size` positions, with loops by slot.
struct AxisAccess {
  std::vector<AccessTerm> terms;
  std::int64_t offset = 0;
  std::int64_t divisor = 1;
  std::int64_t span = 1;
  std::int64_t size = 1;
  bool anywhere = false;
  bool operator==(const AxisAccess&) const = default;
};

constexpr std::size_t max_terms = 32;

// The positions inside the axis that the loops reach when they run through `ranges`. Replaces `result`.
// Exact, unless there are more than a million runs without a pattern: then what lies between them counts as well.
void reach(const AxisAccess& access, std::span<const Range> ranges, Positions& result);

// x in [begin, end) goes to scale * x + offset; what lies outside goes nowhere.
struct AffineMap {
  std::int64_t begin = 0, end = 0;
  std::int64_t scale = 1;
  std::int64_t offset = 0;
  bool operator==(const AffineMap&) const = default;
};
void apply(const AffineMap& map, Positions& positions);

std::int64_t size_of(const Positions& positions);

}  // namespace monet::tiling
