#include "packing/greedy.h"

#include "packing/level_queue.h"
#include "packing/skyline.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

namespace monet::packing {

std::optional<Offsets> pack_lowest_first(const Problem& problem, std::span<const std::int32_t> order,
                                         std::int64_t limit, std::int64_t& steps) {
  LevelQueue queue;
  for (std::size_t rank = 0; rank < order.size(); ++rank) queue.push({0, static_cast<std::int32_t>(rank)});
  Skyline skyline(problem.sections());
  Offsets result{.offset = std::vector<std::int64_t>(order.size(), 0)};
  while (!queue.empty()) {
    if (--steps < 0) return std::nullopt;
    const auto [offset, rank] = queue.pop();
    const std::int32_t i = order[static_cast<std::size_t>(rank)];
    const std::int64_t least = align_up(skyline.highest(problem.first[i], problem.last[i]), problem.alignment[i]);
    const std::int64_t top = least + problem.size[i];
    if (top >= limit) return std::nullopt;
    if (least > offset) {
      queue.push({least, rank});
      continue;
    }
    result.offset[i] = least;
    result.peak = std::max(result.peak, top);
    skyline.set(problem.first[i], problem.last[i], top);
  }
  return result;
}

namespace {

// Free addresses, from 0 without end.
class Gaps {
 public:
  std::int64_t take(std::int64_t size, std::int64_t alignment) {
    constexpr int tries = 16;  // gaps that alignment may spoil; the last has no end and always fits
    auto gap = by_size_.lower_bound({size, 0});
    for (int i = 0; align_up(gap->second, alignment) + size > gap->second + gap->first; ++i)
      gap = i < tries ? std::next(gap) : std::prev(by_size_.end());
    const auto [length, begin] = *gap;
    const std::int64_t offset = align_up(begin, alignment);
    remove(begin, length);
    if (offset > begin) add(begin, offset - begin);
    if (begin + length > offset + size) add(offset + size, begin + length - offset - size);
    return offset;
  }

  void give(std::int64_t offset, std::int64_t size) {
    auto next = by_offset_.lower_bound(offset);
    if (next != by_offset_.end() && next->first == offset + size) {
      const auto [begin, length] = *next;
      ++next;
      remove(begin, length);
      size += length;
    }
    if (next != by_offset_.begin()) {
      const auto [begin, length] = *std::prev(next);
      if (begin + length == offset) {
        remove(begin, length);
        offset = begin;
        size += length;
      }
    }
    add(offset, size);
  }

 private:
  void add(std::int64_t begin, std::int64_t length) {
    by_offset_.emplace(begin, length);
    by_size_.emplace(length, begin);
  }
  void remove(std::int64_t begin, std::int64_t length) {
    by_offset_.erase(begin);
    by_size_.erase({length, begin});
  }

  static constexpr std::int64_t endless = std::numeric_limits<std::int64_t>::max();
  std::map<std::int64_t, std::int64_t> by_offset_{{0, endless}};
  std::set<std::pair<std::int64_t, std::int64_t>> by_size_{{endless, 0}};
};

}  // namespace

Offsets pack_in_time(const Problem& problem) {
  const auto count = static_cast<std::size_t>(problem.buffers());
  std::vector<std::int32_t> starts(count), ends(count);
  std::iota(starts.begin(), starts.end(), 0);
  std::iota(ends.begin(), ends.end(), 0);
  std::ranges::stable_sort(
      starts, {}, [&](std::int32_t i) { return std::tuple(problem.first[i], -problem.lifetime[i], -problem.size[i]); });
  std::ranges::stable_sort(ends, {}, [&](std::int32_t i) { return problem.last[i]; });
  Gaps gaps;
  Offsets result{.offset = std::vector<std::int64_t>(count, 0)};
  std::size_t ended = 0;
  for (const std::int32_t i : starts) {
    for (; problem.last[ends[ended]] <= problem.first[i]; ++ended)
      gaps.give(result.offset[ends[ended]], problem.size[ends[ended]]);
    result.offset[i] = gaps.take(problem.size[i], problem.alignment[i]);
    result.peak = std::max(result.peak, result.offset[i] + problem.size[i]);
  }
  return result;
}

}  // namespace monet::packing
