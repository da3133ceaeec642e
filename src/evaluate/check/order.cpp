#include "evaluate/check/rules.h"

namespace monet::check {

void check_order(const Subject& subject) {
  const TileGraph& tiles = subject.tiles;
  for (std::size_t i = 0; i < tiles.tiles(); ++i) {
    const TileId tile(i);
    const double start = subject.at(tile).start;
    for (const TileRead& read : tiles.reads_of(tile)) {
      const Buffer& buffer = tiles.buffers[read.buffer.index()];
      const ReadPart& part = tiles.part(read);
      if (part.bytes < 0 || part.bytes > part.group_bytes || part.group_bytes > buffer.bytes) {
        subject.findings.add("{} reads {} bytes, with its group {}, of {}, which has {}", subject.name(tile),
                             part.bytes, part.group_bytes, subject.name(read.buffer), buffer.bytes);
      }
      if (!buffer.maker.valid() || subject.not_after(subject.at(buffer.maker).end, start)) continue;
      subject.findings.add("{} starts at {} and reads {}, which {} completes at {}", subject.name(tile), start,
                           subject.name(read.buffer), subject.name(buffer.maker), subject.at(buffer.maker).end);
    }
    for (const TileWrite& write : tiles.writes_of(tile)) {
      if (!write.adds || subject.not_after(subject.at(TileId(i - 1)).end, start)) continue;
      subject.findings.add("{} starts at {} and adds to {}, to which {} adds until {}", subject.name(tile), start,
                           subject.name(write.buffer), subject.name(TileId(i - 1)), subject.at(TileId(i - 1)).end);
    }
  }
}

}  // namespace monet::check
