// Meetings of pieces and buffers, against the reads of tiles.
#include "evaluate/policy/buffer_cuts.h"

#include "graph/builder.h"

#include <gtest/gtest.h>

namespace monet {
namespace {

std::vector<LoopCut> cuts_of(const std::vector<LoopSize>& pieces) {
  std::vector<LoopCut> cuts;
  for (const LoopSize& piece : pieces) {
    if (piece.size > 1) cuts.push_back({piece.loop, piece.size, 0});
  }
  return cuts;
}

// What lies in each other, as powers of two do, meets as often as tiles read.
TEST(BufferCuts, MeetingsAreTheReadsOfTiles) {
  GraphBuilder b("net");
  const TensorId made = b.add(Op::Neg, "maker", {b.input("x", {64, 64})});
  b.output(b.add(Op::Add, "reader", {made, b.input("row", {1, 64})}));
  const Graph graph = *b.finish();
  const TilingGraph tiling(graph);
  const auto loops = tiling.cuttable(NodeId(1));
  ASSERT_EQ(loops.size(), 2U);
  const Dim rows = loops[0].loop.name, columns = loops[1].loop.name;
  std::size_t tried = 0;
  for (std::int64_t a : {1, 4, 16}) {
    for (std::int64_t c : {1, 2, 8}) {
      for (std::int64_t d : {1, 2, 16}) {
        for (std::int64_t e : {1, 4, 32}) {
          const std::vector<LoopSize> maker = {{rows, a}, {columns, c}}, reader = {{rows, d}, {columns, e}};
          Assignment assignment;
          assignment.operators.resize(2);
          assignment.operators[0].cuts = cuts_of(maker);
          assignment.operators[1].cuts = cuts_of(reader);
          BufferCuts buffers(graph, tiling);
          buffers.add(NodeId(0), assignment.operators[0].cuts);
          const auto tiles = tiling.tiles(assignment);
          ASSERT_TRUE(tiles.has_value());
          std::int64_t reads = 0;
          for (std::size_t t = 0; t < tiles->tiles(); ++t) {
            if (tiles->node[t] == NodeId(1)) reads += static_cast<std::int64_t>(tiles->reads_of(TileId(t)).size());
          }
          EXPECT_EQ(buffers.meetings(NodeId(1))(reader), reads) << a << ' ' << c << ' ' << d << ' ' << e;
          ++tried;
        }
      }
    }
  }
  EXPECT_EQ(tried, 81U);
}

}  // namespace
}  // namespace monet
