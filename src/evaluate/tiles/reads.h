// What an operator reads, worked out as far as no plan changes it: for every input and every stored tensor behind it,
// the element sets as products over groups of axes, so that tiles can be asked group by group. No nest moves two axes
// of an operand by one loop; where one did, the product would hold more than is read, never less.
#pragma once

#include "evaluate/classes/operator_classes.h"
#include "evaluate/tiles/cuttable.h"
#include "evaluate/tiles/index_map.h"
#include "evaluate/tiles/views.h"

#include <cstdint>
#include <vector>

namespace monet::tiling {

// One way in which elements are read.
struct GroupAccess {
  std::vector<AxisAccess> axes;  // of the view, slowest first; slots are places in Cuttable::loops
  IndexMap map;
  bool operator==(const GroupAccess&) const = default;
};

struct ReadGroup {
  std::uint32_t loops = 0;         // a bit for each loop that can be cut and matters here
  std::vector<std::uint8_t> axes;  // of the stored tensor, of more than one position; slowest first
  std::vector<std::int64_t> sizes;
  std::vector<GroupAccess> accesses;  // what is read is what any of them reads
  // One access by at most one axis, shifted or stretched: the usual case. Then `accesses` is empty.
  bool simple = false;
  bool shown_through = false;  // by `map`
  AxisAccess axis;
  AffineMap map;
  std::int64_t whole = 0;  // elements read by all tiles together

  // Several accesses, or one that may reach an element twice.
  bool overlaps() const { return accesses.size() > 1 || accesses[0].map.folds(); }
};

struct ReadSite {
  std::uint8_t input = 0;
  std::uint32_t stored = 0;  // which of the stored tensors behind that input: OperatorClasses::stored()
  std::uint32_t loops = 0;
  std::vector<ReadGroup> groups;  // by their first axis; those without axes first
};

// Sorted by input, then by tensor. Nothing is there of what no tile reads.
std::vector<ReadSite> reads_of(const Graph& graph, const OperatorClasses& classes, NodeId node,
                               const OperatorNests& nests, const Cuttable& cuttable);

}  // namespace monet::tiling
