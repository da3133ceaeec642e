#include "kernels/lower/caching_allocator.h"

namespace monet::lowering {

namespace {

constexpr std::int64_t mebibyte = 1 << 20;
constexpr std::int64_t granule = 512;                   // every size is a multiple of it
constexpr std::int64_t largest_small = mebibyte;        // up to here: from the pool of small blocks
constexpr std::int64_t small_segment = 2 * mebibyte;    // what is asked of the driver for them
constexpr std::int64_t middle_segment = 20 * mebibyte;  // for larger ones up to the next limit
constexpr std::int64_t smallest_own = 10 * mebibyte;    // from here: a segment of its own, in multiples of 2 MiB

std::int64_t rounded(std::int64_t bytes, std::int64_t to) { return (bytes + to - 1) / to * to; }

std::int64_t segment_size(std::int64_t size) {
  if (size <= largest_small) return small_segment;
  return size < smallest_own ? middle_segment : rounded(size, 2 * mebibyte);
}

// Less than this is not worth a block of its own, and stays with the one before it.
std::int64_t least_rest(bool small) { return small ? granule : largest_small + 1; }

}  // namespace

std::size_t CachingAllocator::allocate(std::int64_t bytes) {
  if (bytes <= 0) return none;
  const std::int64_t size = rounded(bytes, granule);
  const bool small = size <= largest_small;
  const auto found = pool(small).lower_bound({size, 0});
  const std::size_t block = found != pool(small).end() ? found->second : new_segment(segment_size(size), small);
  if (found != pool(small).end()) pool(small).erase(found);
  if (blocks_[block].size - size >= least_rest(small)) split(block, size);
  blocks_[block].free = false;
  held_bytes_ += blocks_[block].size;
  return block;
}

void CachingAllocator::release(std::size_t handle) {
  if (handle == none) return;
  held_bytes_ -= blocks_[handle].size;
  const std::size_t before = blocks_[handle].before, after = blocks_[handle].after;
  if (after != none && blocks_[after].free) merge(handle, after);
  std::size_t block = handle;
  if (before != none && blocks_[before].free) {
    pool(blocks_[before].small).erase({blocks_[before].size, before});
    merge(before, handle);
    block = before;
  }
  blocks_[block].free = true;
  pool(blocks_[block].small).insert({blocks_[block].size, block});
}

std::size_t CachingAllocator::new_segment(std::int64_t size, bool small) {
  blocks_.push_back({.size = size, .small = small});
  return blocks_.size() - 1;
}

void CachingAllocator::split(std::size_t block, std::int64_t size) {
  const std::size_t rest = blocks_.size();
  const Block whole = blocks_[block];
  blocks_.push_back({whole.size - size, block, whole.after, whole.small, true});
  if (whole.after != none) blocks_[whole.after].before = rest;
  blocks_[block].size = size;
  blocks_[block].after = rest;
  pool(whole.small).insert({blocks_[rest].size, rest});
}

// `next`, which follows `block`, becomes part of it.
void CachingAllocator::merge(std::size_t block, std::size_t next) {
  pool(blocks_[next].small).erase({blocks_[next].size, next});
  blocks_[block].size += blocks_[next].size;
  blocks_[block].after = blocks_[next].after;
  if (blocks_[block].after != none) blocks_[blocks_[block].after].before = block;
  blocks_[next].free = false;
}

}  // namespace monet::lowering
