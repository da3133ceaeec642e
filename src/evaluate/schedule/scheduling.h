// The scheduler at work: one tile after the other finds its place, and with it what it reads and makes. The state is
// shared by all; what is done with it stands in files of its own: prepare.cpp (before the first tile), scheduler.cpp
// (which tile comes next), operands.cpp, transfers.cpp, copies.cpp (what memories of cores hold), results.cpp,
// paging.cpp, finish.cpp (after the last tile).
#pragma once

#include "evaluate/schedule/bookings.h"
#include "evaluate/schedule/moment.h"
#include "evaluate/schedule/ports.h"
#include "evaluate/schedule/readers.h"
#include "evaluate/schedule/ready_queue.h"
#include "evaluate/schedule/room.h"
#include "evaluate/schedule/scheduler.h"
#include "evaluate/schedule/tile_places.h"

#include <array>
#include <optional>
#include <utility>
#include <vector>

namespace monet::scheduling {

// A buffer, or the part of it that the tiles of one piece of an operator read, in the memory of a core.
struct Copy {
  MemoryId memory;
  std::uint32_t group = none;  // whose part it is; none: all of the buffer
  std::uint8_t input = 0;      // for which of its inputs
  std::uint32_t next = none;   // of the same buffer
  std::uint32_t place = 0;     // in the list of what the memory holds
  BufferId buffer;
  std::uint32_t readers = 0;    // tiles that will read it here
  std::uint32_t pinned = none;  // by the tile that is being placed
  std::uint32_t stay = 0;
  std::int64_t bytes = 0;
  Moment ready;              // its data are there
  Moment idle;               // no tile and no transfer uses it any more, as far as is known
  bool responsible = false;  // it was made here and home does not have it
};

struct BufferState {
  std::uint32_t copies = none;
  Moment home{never};                 // it is there at home from then on
  std::uint32_t bus_transfer = none;  // that carried it over a bus
  bool must_go_home = false;
  bool paged_out = false;   // it is in storage
  bool paged_back = false;  // it was, and is wanted now
};

struct TensorState {
  MemoryId home;
  double start = never, end = 0;            // at home
  double page_start = never, page_end = 0;  // in storage
  double back = never;                      // paged in
  double out = 0;                           // paged out
};

// A weight or optimizer state that is in storage and at home only while a part of the step uses it, with what replaces
// its value: from its first use in a phase to its last. Phases whose tiles are placed in turns count as one.
struct PagedState {
  TensorId tensor;  // that the step begins with
  MemoryId storage;
  std::vector<TensorId> replacements;              // its new values, the last of which stays
  std::array<std::uint32_t, phase_count> users{};  // reads and writes of tiles still to be placed
  std::size_t phase = 0;                           // the last of which a tile has been placed
  double paged_in = 0;                             // when the last of it has come
};

struct CoreState {
  Moment free;
  double previous_start = 0;
};

class Scheduler {
 public:
  explicit Scheduler(const ScheduleInput& input)
      : in_(input),
        graph_(input.graph),
        machine_(input.machine),
        hardware_(input.machine.hardware()),
        tiles_(input.tiles),
        places_(input),
        bookings_(input.machine.channels()),
        ports_(input, places_, bookings_),
        readers_(input.graph, input.tiles, places_),
        direct_(input.assignment.transfers == PlanTransfers::direct) {}

  Expected<Schedule> run();

 private:
  // ---- before the first tile
  Status prepare();
  Status check_paging();
  Status check_paged_state(const PagedState& paged_state) const;
  void find_dependencies();
  // What is paged out is away before the backward part needs it: all of the forward part has read it then.
  void wait_for_paging();
  void find_paged_states();
  // What a phase is done with has left before a later one needs it.
  void wait_for_paged_states();
  void find_homes();
  void mark_output(TensorId id);
  void begin_at_home();

  // ---- questions about a tile and its data
  // The tensor whose storage a tensor has at home.
  TensorId stored_as(TensorId tensor) const {
    while (graph_[tensor].updates.valid()) tensor = graph_[tensor].updates;
    return tensor;
  }
  TensorState& tensor_of(BufferId buffer) { return tensors_[stored_as(tiles_.buffers[buffer.index()].tensor).index()]; }
  // The whole buffer in that memory.
  std::uint32_t find(BufferId buffer, MemoryId memory) const {
    for (std::uint32_t c = buffers_[buffer.index()].copies; c != none; c = copies_[c].next) {
      if (copies_[c].memory == memory && copies_[c].group == none) return c;
    }
    return none;
  }
  // The same, or the part of it that the tile reads.
  std::uint32_t find(TileId tile, const TileRead& read) const {
    const MemoryId memory = places_.memory_for(tile, read);
    for (std::uint32_t c = buffers_[read.buffer.index()].copies; c != none; c = copies_[c].next) {
      const Copy& copy = copies_[c];
      if (copy.memory != memory) continue;
      if (only_parts_ && copy.bytes > tiles_.part(read).group_bytes) continue;
      if (copy.group == none || (copy.group == places_.group_of(tile) && copy.input == tiles_.part(read).input))
        return c;
    }
    return none;
  }

  // ---- choosing
  Status run_in_order();
  Status run_by_readiness();
  Status place(TileId tile);

  // ---- operands
  // A buffer is there as a whole, and the tile and those beside it read a part.
  bool has_more_than_it_needs(TileId tile) const;
  // Beside what it has as a whole.
  bool has_room_for_all(TileId tile, const TileCost& tile_cost);
  // A path that streams: its data must be at home.
  Expected<Moment> at_home(TileId tile, const TileRead& read);
  // What is at home elsewhere comes over for one tile.
  Expected<Moment> visit(BufferId buffer, std::int64_t bytes, MemoryId memory);
  Expected<Moment> in_core(TileId tile, const TileRead& read);
  Expected<std::uint32_t> fetch(TileId tile, BufferId buffer, MemoryId memory, std::int64_t bytes, std::uint32_t group,
                                TransferKind kind, std::uint8_t input = 0);
  // The route, or where it takes a bus the way beside buses, whichever ends first.
  std::uint32_t sooner(std::uint32_t route, MemoryId from, MemoryId to, double bits, double start);
  // Memories of other cores that the same operator will want it in, and that can listen to a bus on the way: they take
  // it along, if there is room for it there before another transfer would have brought it.
  void find_listeners(TileId tile, BufferId buffer, MemoryId memory, MemoryId from, std::uint32_t route,
                      Moment& earliest);
  // Whether `to` hears what goes along `route`: over the same channels, up to its own port, and as fast.
  bool same_way(std::uint32_t route, std::uint32_t way, MemoryId to) const;
  // A transfer of the same data over a bus that this memory can listen to.
  std::uint32_t joinable(BufferId buffer, MemoryId memory, MemoryId from, std::uint32_t route, std::int64_t bytes,
                         const Moment& room) const;

  // ---- transfers
  // Books a transfer; when its data are there.
  Expected<Moment> move(BufferId buffer, std::int64_t bytes, MemoryId from, MemoryId to, std::uint32_t route,
                        TransferKind kind, const Moment& earliest);
  std::int64_t whole_pages(std::int64_t bytes, MemoryId from, MemoryId to) const;
  // Brings home what only a core has.
  Status write_back(BufferId buffer);

  // ---- copies and room
  std::uint32_t add_copy(BufferId buffer, MemoryId memory, std::int64_t bytes, std::uint32_t group = none,
                         std::uint8_t input = 0);
  static void keep_until(Copy& copy, const Moment& until) { copy.idle = later(copy.idle, until); }
  void release(std::uint32_t id, const Moment& at);
  // Takes `bytes` of a memory for the tile that is being placed; from when on they are there.
  Expected<Moment> make_room(TileId tile, MemoryId memory, std::int64_t bytes);
  // What it takes begins then.
  void begin_stay(std::uint32_t copy, double start);
  // The tile would wait for room until `free`: longer than it takes to carry the victim away and back.
  bool is_worth_evicting(std::uint32_t victim, double free);
  // What is needed last; what is at home already, if there is a choice.
  std::uint32_t choose_victim(MemoryId memory);
  // By the tile that is being placed.
  std::int64_t pinned_in(MemoryId memory) const;
  Error too_small(TileId tile, MemoryId memory, std::int64_t bytes) const;
  // Nothing reads it any more.
  void drop(BufferId buffer);

  // ---- results
  Expected<Moment> room_for_results(TileId tile, const TileCost& tile_cost);
  void finish_tile(TileId tile);
  void write_home(TileId tile, const TileWrite& write, const Moment& made);
  // All of a buffer is made.
  void complete(TileId tile, BufferId buffer);
  // One of the things that a tile waits for. Until it is placed, its own record holds when the last of them was there.
  void arrived(TileId tile, const Moment& moment);
  void finish_read(TileId tile, const TileRead& read);

  // ---- paging
  MemoryId pages_to(BufferId buffer) const {
    const TensorId tensor = tiles_.buffers[buffer.index()].tensor;
    return in_.assignment.paged.size() > tensor.index() ? in_.assignment.paged[tensor.index()] : MemoryId();
  }
  // Where it is with what it replaces or is replaced by; null: nowhere but at home.
  PagedState* paged_state_of(TensorId tensor) {
    const std::uint32_t number = paged_state_of_.empty() ? none : paged_state_of_[tensor.index()];
    return number == none ? nullptr : &paged_states_[number];
  }
  PagedState* paged_state_of(BufferId buffer) { return paged_state_of(tiles_.buffers[buffer.index()].tensor); }
  // A tile is placed: where it was the last of a phase, what it has used leaves.
  void leave(TileId tile);
  // Its new value goes to storage; the old one is there.
  void leave(PagedState& paged_state);
  void page_out_new(const PagedState& paged_state);
  // The forward part is done with it: it goes to storage, and every copy with it.
  void page_out_if_done(BufferId buffer);
  Status check_paged();
  // Just in time: while the core works on the tile before the one that needs it.
  void page_in(BufferId buffer, double not_before);

  // ---- after the last tile
  void finish();
  std::int64_t bytes_of(TensorId tensor) const;
  // Only the costs and routes that are used go along.
  void renumber_costs();
  void renumber_routes();

  const ScheduleInput& in_;
  const Graph& graph_;
  RoutedMachine& machine_;
  const Hardware& hardware_;
  const TileGraph& tiles_;
  TilePlaces places_;
  Bookings bookings_;
  Ports ports_;
  Readers readers_;
  bool direct_;
  Schedule out_;
  std::vector<Room> rooms_;                       // by memory
  std::vector<std::vector<std::uint32_t>> held_;  // copies in each memory
  std::vector<CoreState> cores_;
  std::vector<std::uint32_t> rank_;  // by tile
  std::optional<ReadyQueue> ready_;
  std::vector<BufferState> buffers_;
  std::vector<TensorState> tensors_;
  std::vector<PagedState> paged_states_;
  std::vector<std::uint32_t> paged_state_of_;  // by tensor; empty: there are none
  std::vector<Copy> copies_;
  std::vector<std::uint32_t> free_copies_;
  std::vector<std::uint32_t> waits_for_;                        // by tile: inputs not made yet
  std::vector<std::pair<std::uint32_t, std::uint32_t>> chain_;  // tiles that add, after which
  std::vector<std::pair<NodeId, NodeId>>
      replaces_;  // readers of a value, and what replaces it or reads it when it was paged
  std::vector<std::pair<std::uint32_t, Moment>> left_of_;  // by node: tiles not placed yet, and the end of the others
  std::vector<std::uint32_t> last_on_;                     // transfer, by channel
  std::size_t since_question_ = 0;                         // tiles placed since it was last asked whether to stop
  // Of the tile that is being placed.
  std::uint32_t pin_ = none;
  double could_start_ = 0;  // its core and its data are there
  std::vector<std::uint32_t> used_, results_, fresh_;
  std::vector<std::pair<MemoryId, std::int64_t>> workspaces_;
  std::vector<Stay> visits_;  // in homes of other data
  std::vector<std::pair<MemoryId, std::int64_t>> needs_;
  bool only_parts_ = false;  // there is no room for whole buffers of which it reads a part
  std::vector<std::pair<std::uint32_t, std::uint32_t>> listeners_;  // copies, and the routes to them
  std::optional<Error> failure_;
};

}  // namespace monet::scheduling
