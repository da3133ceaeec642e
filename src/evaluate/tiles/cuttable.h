// Loops along which an operator may be cut, and where its outputs are cut then.
#pragma once

#include "evaluate/tiles/build.h"

#include <cstdint>
#include <vector>

namespace monet::tiling {

// At most that many of an operator.
constexpr std::size_t max_cuttable = 32;
constexpr std::uint8_t no_loop = 0xff;

// An axis of an output: iteration i of the loop owns the positions from scale * i + offset up to those of the next.
struct WrittenAxis {
  std::uint8_t loop = no_loop;  // in Cuttable::loops; no_loop: cut by none
  std::int64_t scale = 1;
  std::int64_t offset = 0;
};

struct WrittenOutput {
  std::uint8_t output = 0;
  std::vector<WrittenAxis> axes;
  std::uint32_t follows = 0;  // a bit for each loop that one of the axes follows; tiles along the others add up
};

struct Cuttable {
  std::vector<CuttableLoop> loops;
  std::vector<WrittenOutput> outputs;
};

Cuttable cuttable_of(const Graph& graph, const Node& node, const OperatorNests& nests);

}  // namespace monet::tiling
