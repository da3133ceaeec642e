// The first copy of a buffer in a memory, or of a part of it. A buffer can be in a thousand memories, and few of all
// pairs have a copy: a table with open addressing, whose gaps are closed when a pair leaves.
#pragma once

#include "evaluate/schedule/moment.h"

#include <cstdint>
#include <vector>

namespace monet::scheduling {

class CopyIndex {
 public:
  // `where`: the place of the memory, or the number of the part. none: there is none.
  std::uint32_t find(BufferId buffer, std::uint32_t where) const {
    const std::uint64_t key = key_of(buffer, where);
    for (std::size_t i = home_of(key);; i = next(i)) {
      if (slots_[i].key == key) return slots_[i].copy;
      if (slots_[i].key == free_key) return none;
    }
  }

  void set(BufferId buffer, std::uint32_t where, std::uint32_t copy) {
    if (2 * (used_ + 1) > slots_.size()) grow();
    put({key_of(buffer, where), copy});
  }

  // Which is there.
  void erase(BufferId buffer, std::uint32_t where) {
    const std::uint64_t key = key_of(buffer, where);
    std::size_t gap = home_of(key);
    while (slots_[gap].key != key) gap = next(gap);
    // What was pushed behind its own place by others comes nearer.
    for (std::size_t i = next(gap); slots_[i].key != free_key; i = next(i)) {
      if (((i - home_of(slots_[i].key)) & mask()) < ((i - gap) & mask())) continue;
      slots_[gap] = slots_[i];
      gap = i;
    }
    slots_[gap].key = free_key;
    --used_;
  }

 private:
  static constexpr std::uint64_t free_key = ~std::uint64_t{0};
  struct Slot {
    std::uint64_t key = free_key;
    std::uint32_t copy = none;
  };

  static std::uint64_t key_of(BufferId buffer, std::uint32_t where) {
    return std::uint64_t{buffer.index()} << 32 | where;
  }
  std::size_t mask() const { return slots_.size() - 1; }
  std::size_t next(std::size_t i) const { return (i + 1) & mask(); }
  // The high half of a product with 2^64 over the golden ratio (Knuth, The Art of Computer Programming 3, 6.4).
  std::size_t home_of(std::uint64_t key) const {
    return static_cast<std::size_t>((key * 0x9e3779b97f4a7c15U) >> 32) & mask();
  }

  void put(const Slot& slot) {
    std::size_t i = home_of(slot.key);
    while (slots_[i].key != free_key && slots_[i].key != slot.key) i = next(i);
    if (slots_[i].key == free_key) ++used_;
    slots_[i] = slot;
  }

  void grow() {
    std::vector<Slot> old(2 * slots_.size());
    old.swap(slots_);
    used_ = 0;
    for (const Slot& slot : old) {
      if (slot.key != free_key) put(slot);
    }
  }

  std::vector<Slot> slots_ = std::vector<Slot>(64);
  std::size_t used_ = 0;
};

}  // namespace monet::scheduling
