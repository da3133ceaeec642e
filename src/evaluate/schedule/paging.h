// What is in storage for a part of the step: saved tensors between the forward part and the backward part, weights and
// optimizer states while no part of the step uses them.
#pragma once

#include "evaluate/schedule/residency.h"

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace monet::scheduling {

class Paging {
 public:
  // `stays`: where those of tensors are written down.
  Paging(const ScheduleInput& input, const Readers& readers, Homes& homes, Transfers& transfers, Residency& residency,
         std::vector<TensorStay>& stays);

  // Before the first tile: whether all can be paged as the plan says.
  Status check();
  // Where tiles do not come in the order of the plan: operators, and those that wait for all their tiles.
  std::vector<std::pair<NodeId, NodeId>> order() const;

  // To home, if it is in storage: just in time, while the core works on the tile before the one that needs it.
  void page_in_if_out(BufferId buffer, double not_before) {
    if (!buffers_.empty() && buffers_[buffer.index()].out) page_in(buffer, not_before);
  }
  // The forward part is done with it: it goes to storage, and every copy with it.
  void page_out_if_done(BufferId buffer);
  // A tile is placed: where it was the last of a phase, the states that it has used leave.
  void finish(TileId tile);

  // After the last tile: whether all was paged.
  Status check_all_paged() const;
  // Of states, in storage, in a step of so many cycles.
  void add_stays(double cycles);

 private:
  // A weight or optimizer state that is in storage and at home only while a part of the step uses it, with what
  // replaces its value: from its first use in a phase to its last. Phases whose tiles are placed in turns count as one.
  struct State {
    TensorId tensor;  // that the step begins with
    MemoryId storage;
    std::vector<TensorId> replacements;              // its new values, the last of which stays
    std::array<std::uint32_t, phase_count> users{};  // reads and writes of tiles still to be placed
    std::size_t phase = 0;                           // the last of which a tile has been placed
    double paged_in = 0;                             // when the last of it has come
  };
  struct PagedBuffer {
    bool out = false;   // it is in storage
    bool back = false;  // it was, and was wanted
  };

  void find_states();
  Status check_state(const State& state) const;
  // What is paged out is away before the backward part needs it: all of the forward part has read it then.
  void order_saved(std::vector<std::pair<NodeId, NodeId>>& order) const;
  // What a phase is done with has left before a later one needs it.
  void order_states(std::vector<std::pair<NodeId, NodeId>>& order) const;
  template <class Use>
  void for_each_buffer(TileId tile, const Use& use) const {
    for (const TileRead& read : in_.tiles.reads_of(tile)) use(read.buffer);
    for (const TileWrite& write : in_.tiles.writes_of(tile)) use(write.buffer);
  }
  // Not valid: the plan does not page it.
  MemoryId storage_of(BufferId buffer) const {
    return buffers_.empty() ? MemoryId() : in_.assignment.paged[in_.tiles.buffers[buffer.index()].tensor.index()];
  }
  // In states_; none: it is nowhere but at home, or a saved tensor.
  std::uint32_t state_of(TensorId tensor) const { return state_of_.empty() ? none : state_of_[tensor.index()]; }
  std::uint32_t state_of(BufferId buffer) const { return state_of(in_.tiles.buffers[buffer.index()].tensor); }
  bool is_saved(BufferId buffer) const { return storage_of(buffer).valid() && state_of(buffer) == none; }
  // Its new value goes to storage; the old one is there.
  void leave(const State& state);
  void page_out_new(const State& state);
  void page_in(BufferId buffer, double not_before);

  const ScheduleInput& in_;
  const Readers& readers_;
  Homes& homes_;
  Transfers& transfers_;
  Residency& residency_;
  std::vector<TensorStay>& stays_;
  std::vector<PagedBuffer> buffers_;  // empty: nothing is paged
  std::vector<State> states_;
  std::vector<std::uint32_t> state_of_;  // by tensor; empty: there are none
};

}  // namespace monet::scheduling
