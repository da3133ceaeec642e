// Tiles, element by element: what every point of every nest reads and writes, with views run by the interpreter on the
// numbers of elements. Slow, and shares nothing with what it checks but graphs, nests and where tensors are cut.
#pragma once

#include "evaluate/tiles/build.h"

#include <random>
#include <string>

namespace monet::test {

// What is wrong with `tiles`; empty when nothing is: the first difference in buffers, bytes, bytes of pieces, chains of
// writes, or a tile that needs what another one has in its scratch.
std::string tiles_complaint(const Graph& graph, const TilingGraph& tiling, const Assignment& assignment,
                            const TileGraph& tiles);

// Cuts many loops into tiles and pieces of random sizes, into at most `limit` tiles an operator.
Assignment random_cuts(const Graph& graph, const TilingGraph& tiling, std::mt19937& random, std::int64_t limit);

}  // namespace monet::test
