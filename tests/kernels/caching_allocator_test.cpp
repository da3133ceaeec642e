// Does the allocator count what PyTorch's counts? Sizes are by the constants of c10/cuda/CUDACachingAllocator.cpp.
#include "kernels/lower/caching_allocator.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace monet::lowering {
namespace {

constexpr std::int64_t kibibyte = 1 << 10, mebibyte = 1 << 20;

TEST(CachingAllocator, SmallRequestsTakeMultiplesOf512Bytes) {
  CachingAllocator allocator;
  allocator.allocate(1);
  EXPECT_EQ(allocator.held_bytes(), 512);
  allocator.allocate(513);
  EXPECT_EQ(allocator.held_bytes(), 512 + 1024);
  allocator.allocate(0);
  EXPECT_EQ(allocator.held_bytes(), 512 + 1024);
}

// A request of 10 MiB and more has a segment in multiples of 2 MiB; what is left of it is a block of its own only when
// it is above 1 MiB.
TEST(CachingAllocator, LargeRequestsKeepRestsUpToOneMebibyte) {
  for (const std::int64_t extra : {1, 512, 1024, 1536}) {
    CachingAllocator allocator;
    const std::int64_t size = 12 * mebibyte + extra * kibibyte;
    allocator.allocate(size);
    const std::int64_t rest = 14 * mebibyte - size;
    EXPECT_EQ(allocator.held_bytes(), rest > mebibyte ? size : 14 * mebibyte) << extra;
  }
}

// One of 1 to 10 MiB is cut from 20 MiB: the sixth of 3.5 MiB would leave less than it needs, the fifth leaves 2.5 MiB.
TEST(CachingAllocator, MiddleRequestsShareSegmentsOfTwentyMebibytes) {
  CachingAllocator allocator;
  for (int i = 0; i < 5; ++i) allocator.allocate(7 * mebibyte / 2);
  EXPECT_EQ(allocator.held_bytes(), 5 * 7 * mebibyte / 2);
  allocator.allocate(2 * mebibyte);  // fits what is left, and takes all of it
  EXPECT_EQ(allocator.held_bytes(), 5 * 7 * mebibyte / 2 + 5 * mebibyte / 2);
}

TEST(CachingAllocator, TheSmallestFreeBlockThatFitsIsTaken) {
  CachingAllocator allocator;
  const std::size_t large = allocator.allocate(32 * mebibyte), small = allocator.allocate(16 * mebibyte);
  allocator.release(large);
  allocator.release(small);
  EXPECT_EQ(allocator.held_bytes(), 0);
  allocator.allocate(15 * mebibyte + 512 * kibibyte);  // the block of 16 MiB, of which half a MiB is no block
  EXPECT_EQ(allocator.held_bytes(), 16 * mebibyte);
}

TEST(CachingAllocator, NeighboursThatAreFreeBecomeOneBlock) {
  CachingAllocator allocator;
  std::vector<std::size_t> parts;
  for (int i = 0; i < 4; ++i) parts.push_back(allocator.allocate(5 * mebibyte));  // one segment
  for (const std::size_t i : {0U, 2U, 1U, 3U}) allocator.release(parts[i]);
  allocator.allocate(9 * mebibyte);
  allocator.allocate(9 * mebibyte);  // 18 of the 20 MiB
  EXPECT_EQ(allocator.held_bytes(), 18 * mebibyte);
}

// Whatever is done, what is held is at least what was asked for and at most 1 MiB a block more; nothing stays.
TEST(CachingAllocator, HoldsAtMostOneMebibyteMoreForEachRequest) {
  std::mt19937 random(7);
  CachingAllocator allocator;
  std::vector<std::pair<std::size_t, std::int64_t>> given;
  std::int64_t asked = 0;
  for (int i = 0; i < 3000; ++i) {
    if (given.empty() || random() % 5 < 3) {
      const std::int64_t bytes = 1 + static_cast<std::int64_t>(random() % (std::uint64_t{1} << (8 + random() % 18)));
      given.emplace_back(allocator.allocate(bytes), bytes);
      asked += bytes;
    } else {
      const std::size_t which = random() % given.size();
      allocator.release(given[which].first);
      asked -= given[which].second;
      given.erase(given.begin() + static_cast<std::ptrdiff_t>(which));
    }
    EXPECT_GE(allocator.held_bytes(), asked);
    EXPECT_LE(allocator.held_bytes(), asked + static_cast<std::int64_t>(given.size()) * (mebibyte + 512));
  }
  for (const auto& [handle, bytes] : given) allocator.release(handle);
  EXPECT_EQ(allocator.held_bytes(), 0);
}

}  // namespace
}  // namespace monet::lowering
