#include "evaluate/schedule/tile_places.h"

#include <algorithm>

namespace monet::scheduling {

TilePlaces::TilePlaces(const ScheduleInput& input)
    : in_(input),
      tiles_(input.tiles),
      machine_(input.machine),
      core_(input.tiles.tiles()),
      piece_(input.tiles.tiles()),
      split_axes_(input.tiles.operators.size(), 0) {
  for (std::size_t n = 0; n < tiles_.operators.size(); ++n) {
    const OperatorTiles& op = tiles_.operators[n];
    for (std::size_t axis = 0; axis < std::min(op.axes.size(), ReadPart::max_axes); ++axis) {
      if (op.axes[axis].piece.back() > 0) split_axes_[n] |= 1U << axis;
    }
    for (std::uint32_t i = 0; i < op.count; ++i) {
      const TileId tile(op.first + i);
      const std::size_t piece = tiles_.piece_of(tile);
      core_[tile.index()] = in_.assignment.operators[n].cores[piece];
      piece_[tile.index()] = op.first + static_cast<std::uint32_t>(piece);
    }
  }
}

std::uint32_t TilePlaces::group_of(TileId tile, const ReadPart& part) const {
  if (!is_common(tile, part)) return piece_[tile.index()];
  // That of the first of those that read the same.
  const OperatorTiles& op = tiles_.operators[tiles_.node[tile.index()].index()];
  std::uint32_t piece = op.first;
  for (std::size_t axis = 0; axis < op.axes.size(); ++axis) {
    if (!part.differs_along(axis)) continue;
    piece += op.axes[axis].piece[TileGraph::index_along(op, tile, axis)] * op.axes[axis].piece_step;
  }
  return piece;
}

}  // namespace monet::scheduling
