// The operators of a graph cut into tiles, and which tile reads which piece of what. Flat arrays: a step may have
// millions of tiles.
//
// A *buffer* is what tiles exchange: the part of a stored tensor that one tile makes, or a part of a tensor that the
// step begins with (weights, data), cut where its readers cut it. Views make no buffers: their readers read the buffers
// behind them. The buffers of a tensor do not overlap and together are all of it.
//
// Where a reduction is cut, several tiles make one buffer one after the other: each but the first adds to it, and only
// after the last may it be read.
#pragma once

#include "base/ids.h"
#include "evaluate/plan/assignment.h"
#include "graph/graph.h"

#include <cstdint>
#include <span>
#include <vector>

namespace monet {

using TileId = Id<struct TileTag>;
using BufferId = Id<struct BufferTag>;

// One axis of an operator's grid of tiles: loop iterations [bounds[i], bounds[i + 1]) are those of index i.
struct GridAxis {
  Dim loop = Dim::K;
  std::vector<std::int64_t> bounds;  // from 0 to the loop's size
  std::vector<std::uint32_t> piece;  // by index: which piece of the split it belongs to
  std::uint32_t piece_step = 1;      // between neighbouring pieces, in the order of OperatorAssignment::cores
  bool reduces = false;              // no output follows this loop: its tiles add to the same buffers
  std::size_t count() const { return piece.size(); }
};

// The tiles of one node: `first`, `first + 1`, …, the last axis of the grid runs fastest. Axes that reduce come last; a
// loop that is one tile has no axis.
struct OperatorTiles {
  std::uint32_t first = 0;
  std::uint32_t count = 0;  // 0: a view
  std::vector<GridAxis> axes;
};

// What a tile reads of a buffer; equal ones are stored once.
struct ReadPart {
  std::int64_t bytes = 0;        // exactly what the tile reads
  std::int64_t group_bytes = 0;  // what all tiles of the operator in the same piece of its split read of this buffer
  std::uint8_t input = 0;        // of the node
  // Axes of the operator's grid along which tiles read different parts, a bit each; of those without a bit, any may.
  std::uint32_t axes = 0;
  static constexpr std::size_t max_axes = 24;
  bool differs_along(std::size_t axis) const { return axis >= max_axes || (axes >> axis & 1U) != 0; }
  bool operator==(const ReadPart&) const = default;
};

struct TileRead {
  BufferId buffer;
  std::uint32_t part = 0;  // in TileGraph::parts
};

struct TileWrite {
  BufferId buffer;
  std::uint8_t output = 0;
  bool adds = false;  // to what the tile before it in the chain has left there
  bool final = true;  // afterwards the buffer is complete
};

struct Buffer {
  TensorId tensor;  // that is stored: no view
  TileId maker;     // the last tile that writes it; not valid: the step begins with it
  std::int64_t bytes = 0;
};

struct TileGraph {
  std::vector<OperatorTiles> operators;   // by node
  std::vector<NodeId> node;               // by tile
  std::vector<std::uint32_t> first_read;  // by tile, and one more
  std::vector<TileRead> reads;
  std::vector<ReadPart> parts;
  std::vector<std::uint32_t> first_write;  // by tile, and one more
  std::vector<TileWrite> writes;
  std::vector<Buffer> buffers;
  std::vector<std::uint32_t> first_buffer;  // by tensor, and one more: buffers of a tensor are neighbours

  std::size_t tiles() const { return node.size(); }
  std::span<const TileRead> reads_of(TileId tile) const {
    return std::span(reads).subspan(first_read[tile.index()], first_read[tile.index() + 1] - first_read[tile.index()]);
  }
  std::span<const TileWrite> writes_of(TileId tile) const {
    return std::span(writes).subspan(first_write[tile.index()],
                                     first_write[tile.index() + 1] - first_write[tile.index()]);
  }
  const ReadPart& part(const TileRead& read) const { return parts[read.part]; }
  // Index along an axis of the operator's grid.
  static std::size_t index_along(const OperatorTiles& tiles, TileId tile, std::size_t axis);
  // Which piece of the operator's split it belongs to: an index into OperatorAssignment::cores.
  std::size_t piece_of(TileId tile) const;
};

}  // namespace monet
