#include "evaluate/schedule/tile_places.h"

namespace monet::scheduling {

TilePlaces::TilePlaces(const ScheduleInput& input)
    : in_(input), core_(input.tiles.tiles()), group_(input.tiles.tiles()) {
  for (std::size_t n = 0; n < in_.tiles.operators.size(); ++n) {
    const OperatorTiles& op = in_.tiles.operators[n];
    for (std::uint32_t i = 0; i < op.count; ++i) {
      const TileId tile(op.first + i);
      const std::size_t piece = in_.tiles.piece_of(tile);
      core_[tile.index()] = in_.assignment.operators[n].cores[piece];
      group_[tile.index()] = op.first + static_cast<std::uint32_t>(piece);
    }
  }
}

}  // namespace monet::scheduling
