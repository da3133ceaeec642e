// What the rules look at, what several of them need, and where they put what they find.
#pragma once

#include "evaluate/check/check.h"
#include "graph/nests.h"

#include <fmt/format.h>

#include <array>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace monet::check {

class Findings {
 public:
  explicit Findings(std::size_t keep) : keep_(keep) {}

  template <class... Args>
  void add(fmt::format_string<Args...> text, Args&&... args) {
    ++count_;
    if (kept_.size() < keep_) kept_.push_back({fmt::format(text, std::forward<Args>(args)...)});
  }
  std::size_t count() const { return count_; }
  std::vector<Violation> take() { return std::move(kept_); }

 private:
  std::size_t keep_;
  std::size_t count_ = 0;
  std::vector<Violation> kept_;
};

// Whether two ports of a memory can stand in for each other.
bool equal_ports(const Memory& memory, std::size_t a, std::size_t b);

// Tiles of one buffer, in the order in which they add to it.
struct Chain {
  TileId first;
  std::uint32_t length = 0;  // 0: the step begins with it
};

struct CheckContext {
  const Graph& graph;
  const Hardware& hardware;
  const Assignment& assignment;
  const TileGraph& tiles;
  const Schedule& schedule;
  const CheckOptions& options;
  Findings& findings;

  // Filled in by prepare(), once the form is known to be right.
  double tolerance = 0;                         // cycles by which times may differ and still count as equal
  std::vector<OperatorNests> nests = {};        // by node
  std::vector<std::uint32_t> chain_tiles = {};  // by node: tiles that add to the same buffers
  std::vector<bool> is_home = {};               // by memory
  // By core and path: memories in which an operand that is not streamed may be. Registers are none; home memory is one
  // only where there is no other.
  std::vector<std::array<std::vector<MemoryId>, path_count>> local = {};

  void prepare();

  bool is_view(NodeId node) const { return nests[node.index()].nests.empty(); }
  bool not_after(double a, double b) const { return a <= b + tolerance; }
  const ScheduledTile& at(TileId tile) const { return schedule.tiles[tile.index()]; }
  const TileCost& cost(TileId tile) const { return schedule.costs[at(tile).cost]; }
  bool streams(TileId tile, Path path) const { return (cost(tile).streamed >> static_cast<unsigned>(path) & 1U) != 0; }
  bool has_level(CoreId core, MemoryId memory) const;
  // The buffer of a tensor that the number-th tile of its producer makes, tiles that add to one counted as one; not
  // valid: none.
  BufferId made_by(TensorId tensor, std::size_t number) const;
  // And the other way round, for a buffer that is made.
  std::size_t number_of(BufferId buffer) const;
  Chain chain_of(BufferId buffer) const;
  // Of so many of its elements, rounded up.
  std::int64_t bytes_of(TensorId tensor, std::int64_t elements) const;
  // Elements of one size, so that the bytes of a part of it are known.
  bool has_even_width(TensorId tensor) const;
  // The tensor whose storage it has: itself, or the one that it replaces, or the one that that replaces ….
  TensorId place_of(TensorId tensor) const;
  // Where the plan pages what has that storage to; not valid: nowhere.
  MemoryId away(TensorId tensor) const;
  // A weight or the like that is away but for its uses.
  bool lives_away(TensorId tensor) const { return away(tensor).valid() && !graph[place_of(tensor)].producer.valid(); }
  std::span<const Buffer> buffers_of(TensorId tensor) const;

  std::string name(TileId tile) const;      // "conv1 tile 3"
  std::string name(BufferId buffer) const;  // "buffer 2 of x"
  const std::string& name(MemoryId memory) const { return hardware[memory].name; }
  std::string transfer_name(std::size_t transfer) const;
};

}  // namespace monet::check
