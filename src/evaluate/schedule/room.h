// Room in one memory over time. What is taken counts from its start until it is given back; as long as nobody knows
// when that will be, for ever. So room that is found at a moment is there from then on, also beside what starts later.
#pragma once

#include "evaluate/schedule/moment.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace monet {

// Bytes: addresses that memories hand out are multiples of it.
constexpr std::int64_t address_alignment = 64;

class Room {
 public:
  using Moment = scheduling::Moment;

  // No capacity: there is room for anything.
  explicit Room(std::optional<std::int64_t> capacity) : capacity_(capacity) {}

  std::int64_t capacity() const { return capacity_.value_or(0); }
  bool is_bounded() const { return capacity_.has_value(); }
  // The earliest moment from which on `bytes` fit, and what they wait for; nothing: what is known to be given back is
  // not enough. O(n / block) for n changes.
  std::optional<Moment> find(std::int64_t bytes) const;
  // Takes what was found; its start is told by begin(). Until then it counts from the beginning of time.
  void hold(std::int64_t bytes) { held_ += bytes; }
  // Requires that it is held.
  void begin(std::int64_t bytes, double start);
  // Requires that it has begun, no later than `moment`.
  void give_back(std::int64_t bytes, const Moment& moment);

 private:
  struct Change {
    Moment moment;
    std::int64_t bytes;
  };
  // Changes that follow each other in time, their sum, and the most that the first few of them add up to.
  struct Block {
    std::vector<Change> changes;
    std::int64_t sum = 0, most = 0;
    void add_up();
  };
  static constexpr std::size_t block_size = 64;

  void insert(const Change& change);

  std::optional<std::int64_t> capacity_;
  std::int64_t held_ = 0;   // by the tile that is being placed
  std::int64_t taken_ = 0;  // after the last change
  std::vector<Block> blocks_;
};

}  // namespace monet
