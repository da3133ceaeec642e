// A step in time: when each tile runs and each transfer moves, and what every memory holds meanwhile. Made by
// schedule/scheduler.cpp, checked by evaluate/check.
#pragma once

#include "evaluate/cost/tile_cost.h"
#include "evaluate/machine/machine.h"
#include "evaluate/tiles/tile_graph.h"
#include "hardware/hardware.h"

#include <cstdint>
#include <string>
#include <vector>

namespace monet {

using TransferId = Id<struct TransferTag>;

// Why something did not start earlier.
enum class Wait : std::uint8_t {
  nothing,   // it is the first
  core,      // the core was busy with the tile `by`
  data,      // an input was not made yet: tile `by`
  transfer,  // an input was on its way: transfer `by`
  memory,    // no room: until tile `by` was done
  room,      // no room: until transfer `by` had carried something away
};

struct ScheduledTile {
  double start = 0, end = 0;  // cycles
  std::uint32_t cost = 0;     // in Schedule::costs
  CoreId core;
  Wait wait = Wait::nothing;
  // Over which it streams from and to home memory, in Schedule::routes; no_route: it does not.
  std::uint32_t read_route = no_route, write_route = no_route;
  std::uint32_t by = 0;  // tile or transfer
};

enum class TransferKind : std::uint8_t {
  fetch,       // from home memory to a core
  write_back,  // from a core to home memory: it must be there, or room was needed
  core_to_core,
  page_out,
  page_in,
};
std::string_view name_of(TransferKind kind);

// Bytes of a buffer from one memory to another, over the links and ports of a route, at whatever share of them is free.
struct ScheduledTransfer {
  double start = 0, end = 0;
  std::int64_t bytes = 0;
  BufferId buffer;
  MemoryId from, to;
  std::uint32_t route = 0;  // in Schedule::routes
  TransferKind kind = TransferKind::fetch;
  bool joined = false;  // received with another transfer of the same data: takes no share of its own
  Wait wait = Wait::nothing;
  std::uint32_t by = 0;
};

// A buffer (or a part of it) in a memory, from when room is taken to when it is given back.
struct Stay {
  double start = 0, end = 0;
  std::int64_t bytes = 0;
  BufferId buffer;  // not valid: workspace of tile `tile`
  TileId tile;
  MemoryId memory;
};

// A tensor that is stored, in a home memory (or in storage, while it is paged out), all of it at one place.
struct TensorStay {
  double start = 0, end = 0;
  std::int64_t bytes = 0;
  TensorId tensor;
  MemoryId memory;
};

struct Schedule {
  double cycles = 0;                 // makespan
  std::vector<ScheduledTile> tiles;  // by tile
  std::vector<ScheduledTransfer> transfers;
  std::vector<Stay> stays;       // in the memories of cores
  std::vector<TensorStay> home;  // in home memories and storage
  std::vector<TileCost> costs;
  std::vector<Channel> channels;
  std::vector<Route> routes;
  bool whole_power = false;       // energies of tiles are those of the whole machine: nothing static beside them
  std::vector<MemoryId> home_of;  // by core: where data are that are in no core's memory
};

}  // namespace monet
