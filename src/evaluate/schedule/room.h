// Room in one memory over time. What has been taken counts from the beginning of time until it is given back, so that
// room found at a moment is there from then on, whatever the order in which it is asked for.
#pragma once

#include "evaluate/schedule/schedule.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace monet {

class Room {
 public:
  struct Moment {
    double at = 0;
    Wait wait = Wait::nothing;
    std::uint32_t by = 0;
  };

  explicit Room(std::int64_t capacity) : capacity_(capacity) {}

  std::int64_t capacity() const { return capacity_; }
  // Waits for what will be given back, the earliest first, until `bytes` fit; false: that is not enough.
  bool make(std::int64_t bytes) {
    while (taken_ + bytes > capacity_) {
      if (leaving_.empty()) return false;
      std::ranges::pop_heap(leaving_, later);
      const Leaving& next = leaving_.back();
      taken_ -= next.bytes;
      if (next.moment.at > free_from_.at) free_from_ = next.moment;
      leaving_.pop_back();
    }
    return true;
  }
  // Requires that it fits. From `free_from().at` on it does.
  void take(std::int64_t bytes) { taken_ += bytes; }
  const Moment& free_from() const { return free_from_; }
  void give_back(std::int64_t bytes, const Moment& moment) {
    if (bytes == 0) return;
    leaving_.push_back({moment, bytes});
    std::ranges::push_heap(leaving_, later);
  }

 private:
  struct Leaving {
    Moment moment;
    std::int64_t bytes;
  };
  static bool later(const Leaving& a, const Leaving& b) { return a.moment.at > b.moment.at; }

  std::int64_t capacity_;
  std::int64_t taken_ = 0;
  Moment free_from_;
  std::vector<Leaving> leaving_;
};

}  // namespace monet
