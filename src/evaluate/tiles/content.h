// What TilingGraph holds, and what a plan adds to it.
#pragma once

#include "evaluate/classes/operator_classes.h"
#include "evaluate/tiles/grid.h"
#include "evaluate/tiles/reads.h"
#include "evaluate/tiles/stored_width.h"

#include <cstdint>
#include <deque>
#include <vector>

namespace monet::tiling {

// What follows from an operator's content.
struct TiledNode {
  Cuttable cuttable;
  std::vector<ReadSite> reads;
};

struct SiteRef {
  NodeId node;
  std::uint32_t site;
};

struct GraphContent {
  const Graph& graph;
  const OperatorClasses& classes;
  std::vector<const TiledNode*> nodes;
  std::vector<std::uint32_t> first_axis;    // by tensor, and one more: axes of all tensors in a row
  std::vector<StoredWidth> width;           // by tensor
  std::vector<std::int64_t> elements;       // by tensor
  std::vector<std::uint32_t> first_reader;  // by tensor, and one more
  std::vector<SiteRef> readers;
  std::vector<std::uint8_t> stored;  // by tensor: no view

  TensorId tensor(NodeId node, const ReadSite& site) const { return classes.stored(node, site.input)[site.stored]; }
};

// One axis of a tensor, cut: cell i is [bounds[i], bounds[i + 1]). `bounds` is null where the axis is one cell.
struct AxisCells {
  const std::int64_t* bounds = nullptr;
  std::uint32_t count = 1;
  std::uint32_t step = 0;  // between buffers of neighbouring cells
};

struct PlannedNode {
  std::vector<std::uint8_t> loops;  // by axis of the grid: in Cuttable::loops
  std::uint32_t cut = 0;            // a bit for each loop that is cut
};

// Grids and cells of one plan.
struct PlanCells {
  std::vector<OperatorTiles> operators;
  std::vector<PlannedNode> nodes;
  std::vector<AxisCells> axes;    // as GraphContent::first_axis
  std::vector<std::uint8_t> cut;  // by tensor: more than one buffer
  std::vector<std::uint32_t> first_buffer;
  std::int64_t tiles = 0;
  std::deque<std::vector<std::int64_t>> bounds;  // that are no grid's

  std::span<const AxisCells> cells(const GraphContent& content, TensorId id) const {
    const std::uint32_t first = content.first_axis[id.index()];
    return std::span(axes).subspan(first, content.first_axis[id.index() + 1] - first);
  }
};

Expected<PlanCells> cells_of(const GraphContent& content, const Assignment& assignment, const TileOptions& options);

}  // namespace monet::tiling

namespace monet {

class TilingTable : public ByOperatorClass<tiling::TiledNode> {};

}  // namespace monet
