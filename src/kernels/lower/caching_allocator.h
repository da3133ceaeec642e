// The allocator of an eager framework: it keeps what is freed, gives the smallest free block that is large enough, and
// counts whole blocks (PyTorch, c10/cuda/CUDACachingAllocator.cpp, with its defaults, one stream).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

namespace monet::lowering {

class CachingAllocator {
 public:
  // Of `bytes`; nothing is taken for 0.
  std::size_t allocate(std::int64_t bytes);
  // What allocate() gave, once.
  void release(std::size_t handle);
  // Of the block that it is.
  std::int64_t bytes_of(std::size_t handle) const { return handle == none ? 0 : blocks_[handle].size; }
  // Of all blocks that are given away.
  std::int64_t held_bytes() const { return held_bytes_; }

 private:
  static constexpr std::size_t none = static_cast<std::size_t>(-1);
  struct Block {
    std::int64_t size = 0;
    std::size_t before = none, after = none;  // in the same segment
    bool small = false;                       // of the pool for small requests
    bool free = false;
  };
  using FreeBlocks = std::set<std::pair<std::int64_t, std::size_t>>;  // size, block

  FreeBlocks& pool(bool small) { return free_[small ? 1 : 0]; }
  std::size_t new_segment(std::int64_t size, bool small);
  void split(std::size_t block, std::int64_t size);
  void merge(std::size_t block, std::size_t next);

  std::vector<Block> blocks_;
  std::array<FreeBlocks, 2> free_;
  std::int64_t held_bytes_ = 0;
};

}  // namespace monet::lowering
