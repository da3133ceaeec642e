#include "evaluate/check/rules.h"

namespace monet::check {

void check_order(const CheckContext& context) {
  const TileGraph& tiles = context.tiles;
  for (std::size_t i = 0; i < tiles.tiles(); ++i) {
    const TileId tile(i);
    const double start = context.at(tile).start;
    for (const TileRead& read : tiles.reads_of(tile)) {
      const Buffer& buffer = tiles.buffers[read.buffer.index()];
      const ReadPart& part = tiles.part(read);
      if (part.bytes < 0 || part.bytes > part.group_bytes || part.group_bytes > buffer.bytes) {
        context.findings.add("{} reads {} bytes, with its group {}, of {}, which has {}", context.name(tile),
                             part.bytes, part.group_bytes, context.name(read.buffer), buffer.bytes);
      }
      if (!buffer.maker.valid() || context.not_after(context.at(buffer.maker).end, start)) continue;
      context.findings.add("{} starts at {} and reads {}, which {} completes at {}", context.name(tile), start,
                           context.name(read.buffer), context.name(buffer.maker), context.at(buffer.maker).end);
    }
    for (const TileWrite& write : tiles.writes_of(tile)) {
      if (!write.adds || context.not_after(context.at(TileId(i - 1)).end, start)) continue;
      context.findings.add("{} starts at {} and adds to {}, to which {} adds until {}", context.name(tile), start,
                           context.name(write.buffer), context.name(TileId(i - 1)), context.at(TileId(i - 1)).end);
    }
  }
}

}  // namespace monet::check
