// Candidates for cuts that were met before: many orders have the same loops below a cut.
#pragma once

#include "mapping/order.h"

#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

namespace monet {

// Large: make one and use it for many frames.
class CandidateTable {
 public:
  // All that a candidate depends on, beside the frame.
  struct Key {
    std::uint32_t operand = 0;
    std::uint32_t depth = 0;
    double product = 1;            // iterations below
    double idle = 1;               // of the loops just below that the operand ignores
    const double* most = nullptr;  // extent in time below, by loop
    std::uint64_t extents = 0;     // a sum of hash_of_extent over the loops, in any order
  };

  static std::uint64_t hash_of_extent(std::size_t loop, double most) {
    const std::uint64_t hash = (std::bit_cast<std::uint64_t>(most) + loop) * 0x9e3779b97f4a7c15U;
    return (hash ^ (hash >> 29U)) * 0xbf58476d1ce4e5b9U;
  }

  // Begins anew, for a frame with so many loops.
  void clear(std::size_t loops);

  // The candidate with this key; if it was not met before `make` fills it in. Stays good until one with the same
  // operand and depth is asked for, or all are cleared.
  template <class Make>
  const Candidate& find(const Key& key, const Make& make) {
    Candidate* made = nullptr;
    if (const Candidate* known = known_or_new(key, made)) return *known;
    make(*made);
    return *made;
  }

 private:
  // Null: `made` is where it belongs.
  const Candidate* known_or_new(const Key& key, Candidate*& made);

  static constexpr std::size_t slots = 16384;
  static constexpr std::size_t most_entries = slots / 2;
  struct Entry {
    std::uint64_t place = 0;  // operand and depth
    double product = 1;
    double idle = 1;
    std::array<double, max_frame_loops> most;
    Candidate candidate;
  };

  std::size_t loops_ = 0;
  std::size_t count_ = 0;
  std::uint16_t generation_ = 0;
  struct Slot {
    std::uint16_t generation = 0;  // free if it is not the present one
    std::uint16_t entry = 0;
    std::uint32_t hash = 0;  // its upper half
  };
  std::vector<Slot> slots_;
  std::vector<std::unique_ptr<Entry>> entries_;
  // Where no more are kept: one for each operand and depth.
  std::vector<std::unique_ptr<Candidate>> spare_;
};

}  // namespace monet
