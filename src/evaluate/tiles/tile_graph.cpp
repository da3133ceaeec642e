#include "evaluate/tiles/tile_graph.h"

namespace monet {

std::size_t TileGraph::index_along(const OperatorTiles& tiles, TileId tile, std::size_t axis) {
  std::size_t inner = 1;
  for (std::size_t i = axis + 1; i < tiles.axes.size(); ++i) inner *= tiles.axes[i].count();
  return (tile.index() - tiles.first) / inner % tiles.axes[axis].count();
}

std::size_t TileGraph::piece_of(TileId tile) const {
  const OperatorTiles& tiles = operators[node[tile.index()].index()];
  std::size_t rest = tile.index() - tiles.first;
  std::size_t piece = 0;
  for (std::size_t i = tiles.axes.size(); i-- > 0;) {
    const GridAxis& axis = tiles.axes[i];
    piece += std::size_t{axis.piece[rest % axis.count()]} * axis.piece_step;
    rest /= axis.count();
  }
  return piece;
}

}  // namespace monet
