// Which paths of an operator stream from and to home memory while its tiles run: those for which its core has no memory
// of its own, and those whose data it has no room for.
#pragma once

#include "evaluate/cost/tile_costs.h"
#include "evaluate/machine/machine.h"
#include "evaluate/plan/assignment.h"
#include "evaluate/tiles/tile_graph.h"

#include <monet/expected.h>

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace monet {

class Streaming {
 public:
  // By the bytes of the tiles. An operator by itself takes half of a memory at most, so that the next one's operands
  // can come in meanwhile. With `everything`, all paths stream. All that is given must outlive it.
  Streaming(const RoutedMachine& machine, const TileCosts& costs, const Assignment& assignment, const TileGraph& tiles,
            bool everything);

  // Where a tile cannot be mapped, or what it holds beside its operands leaves no room for them, one path more streams:
  // then its costs are others. Whether there are such; fails when nothing is left to stream. `cost_of` by tile, solved.
  Expected<bool> widen(std::span<const std::uint32_t> cost_of);

  // Where an operator waits for what streams because of what stays, one path more streams, to be tried: whether there
  // are such. Then its costs are others, and `decide` keeps what is better; both costs by tile, solved.
  bool try_more(std::span<const std::uint32_t> cost_of);
  void decide(std::span<const std::uint32_t> before, std::span<const std::uint32_t> tried);

  std::uint8_t of(NodeId node, std::size_t kind) const { return groups_[group_of(node, kind)].streamed; }
  std::vector<std::uint8_t> by_tile() const;

 private:
  using Bytes = std::array<std::int64_t, path_count>;

  // The tiles of an operator on one kind of core.
  struct Group {
    std::uint32_t kind = 0;
    std::uint8_t streamed = 0;  // a bit for each path
    Bytes most{};               // of a tile by itself
    Bytes common{};             // that it reads together with all other pieces of the operator
    std::int64_t cores = 1;     // of the stack that work in one memory with it
    std::uint8_t tried = 0;     // the path that streams on trial
    bool settled = false;       // nothing more is tried
  };

  std::size_t group_of(NodeId node, std::size_t kind) const;
  CoreId core_of(NodeId node, TileId tile) const;
  // What a tile has of its own; what it has in common with others is added up in `common`.
  Bytes bytes_of(NodeId node, TileId tile, const CorePlaces& places, Bytes& common);
  // Buffers that all pieces of the operator read as a whole.
  void find_common(NodeId node);
  // By stack and core: the most cores of the stack that have one of its local memories.
  std::vector<std::vector<std::uint32_t>> find_sharing() const;
  // The path with the most bytes whose memory, or one of `parts` equal parts of it, has no room for those of all cores
  // that share it and for what they hold beside; path_count: all fits.
  std::size_t too_large(const Group& group, std::uint8_t streamed, const Bytes& own, std::span<const HeldBytes> held,
                        std::int64_t parts) const;

  const RoutedMachine& machine_;
  const TileCosts& costs_;
  const Assignment& assignment_;
  const TileGraph& tiles_;
  std::vector<Group> groups_;
  std::vector<std::uint32_t> first_group_;  // by node, and one more
  std::vector<std::uint32_t> counted_;      // by buffer: one more than the last tile that counted all of it
  struct Readers {
    std::uint32_t node = 0, last = 0;  // one more than each
    std::uint32_t pieces = 0;          // of the node, that read all of it
  };
  std::vector<Readers> readers_;  // by buffer
};

}  // namespace monet
