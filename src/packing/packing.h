// Offset assignment: buffers with half-open lifetimes get addresses so that no two that are alive together overlap.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace monet {

struct PackItem {
  std::int64_t lower = 0, upper = 0;  // alive in [lower, upper); equal: never
  std::int64_t size = 0;              // bytes
  std::int64_t alignment = 1;         // the offset is a multiple of it
};

struct PackLimits {
  std::optional<std::int64_t> capacity;  // none: as small as can be found
  // Multiplies the work done in search, which is counted in steps, not in seconds: same answer everywhere. 1 is a few
  // seconds where the answer is not certain before; 0 leaves the search out.
  double effort = 1;
  double time_limit_s = 0;     // 0: none; else the best found by then is the answer
  std::function<bool()> stop;  // asked now and then; true: the same
};

struct PackResult {
  std::vector<std::int64_t> offsets;  // by item; never overlapping, also when they do not fit
  std::int64_t peak = 0;              // highest address in use
  bool placed = false;                // within the capacity
  bool proven = false;                // least possible, or certain that nothing fits
  std::int64_t work = 0;              // steps of search
};

// Sizes and alignments of all items together may be at most this: no sum of theirs overflows.
inline constexpr std::int64_t pack_largest_total = std::int64_t{1} << 60;

// Largest sum of sizes alive at one moment.
std::int64_t max_load(std::span<const PackItem> items);

// Requires: lower <= upper, size >= 0, alignment >= 1, and the bound above.
// Cost without search: O(n log n) in time and memory, and a bounded number of steps more.
PackResult pack(std::span<const PackItem> items, const PackLimits& limits = {});

}  // namespace monet
