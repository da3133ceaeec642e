// The elements that a group of axes (reads.h) contributes while loops run through given ranges.
#pragma once

#include "evaluate/tiles/boxes.h"
#include "evaluate/tiles/reads.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace monet::tiling {

struct Interval {
  std::int64_t begin = 0, end = 0;
};

// How a set of elements is given.
enum class Given : std::uint8_t {
  products,    // of positions along the group's axes; no element is in two of them
  intervals,   // in the group's axes counted through as one number; no overlap
  everything,  // any element may be read: the budget is spent
};

// Memory that is used again, and the work that may still be done before sets are taken to be everything.
struct ElementWork {
  std::array<Range, max_cuttable> ranges{};  // by loop that can be cut; set by the caller
  std::int64_t budget = 0;
  Positions positions;             // of a simple group
  std::vector<Positions> of_axes;  // products, one after the other
  std::size_t products = 0;
  std::vector<Interval> intervals;

  std::span<const Positions> product(std::size_t i, std::size_t axes) const {
    return std::span(of_axes).subspan(i * axes, axes);
  }

  std::vector<Box> boxes, all_boxes;
  std::vector<Positions> viewed;
  BoxRunner runner;
  AxisAccess side_access;
};

// Steps of work on one group for one plan.
constexpr std::int64_t group_budget = std::int64_t{1} << 20;

// Of a simple group: the positions along its axis, in work.positions.
void simple_elements(const ReadGroup& group, ElementWork& work);

// Of any other.
Given collect_elements(const ReadGroup& group, ElementWork& work);

// Elements read when all loops run through.
std::int64_t whole_size(const ReadGroup& group);

}  // namespace monet::tiling
