#include "evaluate/schedule/tile_places.h"

namespace monet::scheduling {

TilePlaces::TilePlaces(const ScheduleInput& input)
    : in_(input),
      tiles_(input.tiles),
      machine_(input.machine),
      core_(input.tiles.tiles()),
      group_(input.tiles.tiles()) {
  for (std::size_t n = 0; n < tiles_.operators.size(); ++n) {
    const OperatorTiles& op = tiles_.operators[n];
    for (std::uint32_t i = 0; i < op.count; ++i) {
      const TileId tile(op.first + i);
      const std::size_t piece = tiles_.piece_of(tile);
      core_[tile.index()] = in_.assignment.operators[n].cores[piece];
      group_[tile.index()] = op.first + static_cast<std::uint32_t>(piece);
    }
  }
}

}  // namespace monet::scheduling
