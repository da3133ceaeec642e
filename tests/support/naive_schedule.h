// Tiles and a schedule made in the most obvious way: tiles from every point of every loop, and one thing after the
// other: fetch what a tile reads, run it, write back what it has made. For tests of the checker.
#pragma once

#include "evaluate/plan/assignment.h"
#include "evaluate/schedule/schedule.h"
#include "evaluate/tiles/tile_graph.h"

namespace monet::test {

// Everything on core 0, nothing cut.
Assignment plain_assignment(const Graph& graph, const Hardware& hardware);
TileGraph naive_tiles(const Graph& graph, const Assignment& assignment);

// Two cores with a memory each, a memory outside, a bus between all of them, a link between the cores, and flash.
Hardware two_cores();

// Channels and routes of two_cores(), by number.
struct TwoCores {
  static constexpr std::size_t bus = 0, dram_port = 1, link_up = 2, link_down = 3, flash_read = 4, flash_write = 5;
  static constexpr std::uint32_t from_dram[2] = {0, 1}, to_dram[2] = {2, 3};
  static constexpr std::uint32_t up = 4, down = 5, page_out = 6, page_in = 7;
  MemoryId dram, flash;
  MemoryId sram[2];
  explicit TwoCores(const Hardware& hardware);
  // A schedule with nothing in it but channels, routes and homes.
  Schedule empty(const Hardware& hardware) const;
};

// Requires: hardware is two_cores(); local memories hold what any one tile works on.
Schedule naive_schedule(const Graph& graph, const Hardware& hardware, const TileGraph& tiles,
                        const Assignment& assignment);

constexpr double naive_cycles = 10;  // of every tile

}  // namespace monet::test
