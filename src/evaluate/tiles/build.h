// From a graph and an assignment to tiles. Exact: a tile depends on a buffer if and only if it reads an element of it,
// and the bytes are those of the different elements that it reads. Near-linear in tiles and reads.
//
// Where exactness would take too long a tile is taken to read more, never less: views that reorder an axis into over a
// million pieces without a pattern, concatenations of over 4096 tensors, over 256 different ways to read one tensor.
#pragma once

#include "evaluate/classes/operator_classes.h"
#include "evaluate/tiles/stored_width.h"
#include "evaluate/tiles/tile_graph.h"
#include "graph/nests.h"

#include <monet/expected.h>

#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace monet {

// What of a graph the tiles need and no plan changes: nests, and views composed down to what is stored. Made once for
// many plans; safe to read from several threads. The graph must outlive it.
class TilingGraph;
// The same of operators by content, for many graphs. One thread at a time.
class TilingTable;

struct TileOptions {
  // Width of the elements, by tensor; empty: as the formats say.
  std::vector<StoredWidth> element_bits;
  // More than that is an error.
  std::int64_t max_tiles = 20'000'000;
  std::int64_t max_reads = 200'000'000;
};

// Loops along which an operator may be cut, in the order of its first nest: longer than one iteration, present in all
// of its nests (one of a single point is repeated by every tile), with nothing passing between nests that another tile
// would need, outputs of different tiles disjoint or added up; loops that must run in order are not among them.
struct CuttableLoop {
  Loop loop;
  bool reduces = false;  // tiles along it add to the same outputs
};
std::vector<CuttableLoop> cuttable_loops(const Graph& graph, NodeId node);

// A tensor that an operator reads or writes, and for each of its axes the one loop that runs along it; nothing where
// none does, or several do.
struct LoopsAlong {
  TensorId tensor;
  std::vector<std::optional<Dim>> loops;
};

class TilingGraph {
 public:
  explicit TilingGraph(const Graph& graph);
  // With what is known of operators already; new ones are added. All must outlive it.
  TilingGraph(const Graph& graph, const OperatorClasses& classes, TilingTable& table);
  ~TilingGraph();
  TilingGraph(TilingGraph&&) noexcept;
  TilingGraph& operator=(TilingGraph&&) noexcept;

  std::span<const CuttableLoop> cuttable(NodeId node) const;
  std::vector<LoopsAlong> read_along(NodeId node) const;
  std::vector<LoopsAlong> written_along(NodeId node) const;
  // Fails when a cut names a loop that the operator cannot be cut along, or there would be too many tiles or reads.
  Expected<TileGraph> tiles(const Assignment& assignment, const TileOptions& options = {}) const;
  // Where a stored tensor is cut into buffers: for each axis, where the buffers begin and the last one ends. They are
  // numbered with the last axis fastest.
  Expected<std::vector<std::vector<std::int64_t>>> cells(const Assignment& assignment, TensorId tensor) const;

 private:
  struct Alone;
  struct Content;
  std::unique_ptr<Alone> alone_;  // for this graph alone
  std::unique_ptr<const Content> content_;
};

}  // namespace monet
