// What the memories of cores hold: copies of buffers, and room for those that come. Where room is short, what is needed
// last leaves; what home does not have is brought there first.
#pragma once

#include "evaluate/schedule/copy_index.h"
#include "evaluate/schedule/room.h"
#include "evaluate/schedule/transfers.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace monet::scheduling {

// A buffer, or the part of it that pieces of an operator read, in the memory of a core.
struct Copy {
  MemoryId memory;
  std::uint32_t group = none;  // whose part it is; none: all of the buffer
  std::uint8_t input = 0;      // for which of its inputs
  std::uint32_t next = none;   // of the same buffer, the one that came before it
  std::uint32_t previous = none;
  std::uint32_t next_here = none;                          // in the same memory too
  std::uint32_t next_alike = none, previous_alike = none;  // of the same part too
  std::uint32_t place = 0;                                 // in the list of what the memory holds
  BufferId buffer;
  std::uint32_t readers = 0;  // tiles that will read it here
  TileId pinned;              // by the tile that is being placed
  std::uint32_t stay = 0;
  std::int64_t bytes = 0;
  Moment ready;              // its data are there
  Moment idle;               // no tile and no transfer uses it any more, as far as is known
  bool responsible = false;  // it was made here and home does not have it

  // All of the buffer, or that part of it.
  bool has(std::uint32_t part, std::uint8_t of_input) const {
    return group == none || (group == part && input == of_input);
  }
  void keep_until(const Moment& until) { idle = later(idle, until); }
};

// The tile that is being placed. What it has pinned stays.
struct Placing {
  TileId tile;
  double could_start = 0;     // its core and its data are there
  double previous_start = 0;  // of the tile before it on its core
};

class Residency {
 public:
  // `rank`: by tile, its place in the order; it must outlive this. `stays`: where all are written down.
  Residency(const ScheduleInput& input, std::span<const std::uint32_t> rank, Readers& readers, Homes& homes,
            Transfers& transfers, std::vector<Stay>& stays);

  Copy& operator[](std::uint32_t copy) { return copies_[copy]; }
  const Copy& operator[](std::uint32_t copy) const { return copies_[copy]; }
  // The first copy of a buffer, which leads to the next; none: there is none.
  std::uint32_t first(BufferId buffer) const { return first_[buffer.index()]; }
  // The first in that memory, which leads to the next there.
  std::uint32_t first(BufferId buffer, MemoryId memory) const {
    return here_.find(buffer, static_cast<std::uint32_t>(memory.index()));
  }
  // The first of a part, of whatever input, or of the whole; leads to the next alike. The later, the further in front.
  std::uint32_t first_alike(BufferId buffer, std::uint32_t group) const { return alike_.find(buffer, group); }
  // Came into being before the other.
  bool is_older(std::uint32_t copy, std::uint32_t than) const { return copies_[copy].stay < copies_[than].stay; }
  // The whole buffer, or that part of it, in that memory; none: it is not there.
  std::uint32_t find(BufferId buffer, MemoryId memory, std::uint32_t group = none, std::uint8_t input = 0) const {
    for (std::uint32_t c = first(buffer, memory); c != none; c = copies_[c].next_here) {
      if (copies_[c].has(group, input)) return c;
    }
    return none;
  }
  // As much as the memory holds, if it held nothing else.
  bool fits(MemoryId memory, std::int64_t bytes) const {
    return !rooms_[memory.index()].is_bounded() || taken(bytes) <= rooms_[memory.index()].capacity();
  }

  // Takes `bytes` of a memory; from when on they are there.
  Expected<Moment> make_room(const Placing& now, MemoryId memory, std::int64_t bytes);
  // The same, if nothing has to leave for it and it is there by `latest`.
  std::optional<Moment> find_room(MemoryId memory, std::int64_t bytes, double latest);
  // In room that is made; pinned.
  std::uint32_t add(const Placing& now, BufferId buffer, MemoryId memory, std::int64_t bytes,
                    std::uint32_t group = none, std::uint8_t input = 0);
  // What it takes begins then.
  void begin_stay(std::uint32_t copy, double start);
  // Room that is made is the workspace of the tile while it runs.
  void use_workspace(TileId tile, MemoryId memory, std::int64_t bytes, double start, const Moment& end);
  // It is gone as soon as it is idle.
  void release(std::uint32_t copy);
  // No tile will read it here, and it need not go home.
  bool is_done(const Copy& copy) const { return copy.readers == 0 && is_clean(copy); }
  // All copies of a buffer, but for one.
  void drop(BufferId buffer, std::uint32_t kept = none);
  // Brings home what only a core has.
  Status write_back(BufferId buffer);

 private:
  // The tile would wait for room until `free`: longer than it takes to carry the victim away and back.
  bool is_worth_evicting(const Placing& now, const Copy& victim, double free);
  // What is needed last; what is at home already, if there is a choice.
  std::uint32_t choose_victim(const Placing& now, MemoryId memory);
  // With its address, where all that is in the memory must find one.
  std::int64_t taken(std::int64_t bytes) const {
    constexpr std::int64_t unit = address_alignment;
    return in_.machine.lives_in_storage() ? (bytes + unit - 1) / unit * unit : bytes;
  }
  bool is_clean(const Copy& copy) const { return !copy.responsible || homes_.has(copy.buffer); }
  void link(std::uint32_t copy);
  void unlink(std::uint32_t copy);
  Error too_small(const Placing& now, MemoryId memory, std::int64_t bytes) const;

  const ScheduleInput& in_;
  std::span<const std::uint32_t> rank_;
  Readers& readers_;
  Homes& homes_;
  Transfers& transfers_;
  std::vector<Stay>& stays_;
  std::vector<Room> rooms_;                       // by memory
  std::vector<std::vector<std::uint32_t>> held_;  // by memory: copies
  std::vector<std::uint32_t> first_;              // by buffer
  CopyIndex here_, alike_;                        // by memory, by part
  std::vector<Copy> copies_;
  std::vector<std::uint32_t> free_copies_;
};

}  // namespace monet::scheduling
