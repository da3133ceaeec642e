// A queue by offset, then rank, for offsets that only grow: what is put in lies above what came out last (a radix
// heap).
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

namespace monet::packing {

class LevelQueue {
 public:
  struct Entry {
    std::int64_t offset = 0;
    std::int32_t rank = 0;
  };

  bool empty() const { return next_ == level_.size() && count_ == 0; }

  // Requires an offset above that of the last one out; before that, 0 or more.
  void push(Entry entry) {
    buckets_[bucket_of(entry.offset)].push_back(entry);
    ++count_;
  }

  // Requires: not empty.
  Entry pop() {
    if (next_ == level_.size()) next_level();
    return {last_, level_[next_++]};
  }

 private:
  // By the highest bit in which it differs from the last one out.
  std::size_t bucket_of(std::int64_t offset) const {
    return static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(offset ^ last_)));
  }

  void next_level() {
    level_.clear();
    next_ = 0;
    const auto bucket = std::ranges::find_if(buckets_, [](const auto& entries) { return !entries.empty(); });
    moving_.swap(*bucket);
    last_ = std::ranges::min_element(moving_, {}, &Entry::offset)->offset;
    for (const Entry& entry : moving_) {
      if (entry.offset == last_) {
        level_.push_back(entry.rank);
        --count_;
      } else {
        buckets_[bucket_of(entry.offset)].push_back(entry);
      }
    }
    moving_.clear();
    std::ranges::sort(level_);
  }

  std::array<std::vector<Entry>, 65> buckets_;
  std::vector<Entry> moving_;
  std::vector<std::int32_t> level_;  // ranks at the offset last_
  std::size_t next_ = 0;             // in level_
  std::size_t count_ = 0;            // in buckets_
  std::int64_t last_ = 0;
};

}  // namespace monet::packing
