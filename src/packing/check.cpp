#include "packing/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <vector>

namespace monet {

namespace {

std::string check_alone(std::size_t index, const PackItem& item, std::int64_t offset,
                        std::optional<std::int64_t> capacity) {
  if (offset < 0) return fmt::format("buffer {} has the offset {}", index, offset);
  if (offset % item.alignment != 0)
    return fmt::format("buffer {} has the offset {}, no multiple of {}", index, offset, item.alignment);
  if (capacity && (offset > *capacity || item.size > *capacity - offset))
    return fmt::format("buffer {} at {} with {} bytes is above the capacity of {}", index, offset, item.size,
                       *capacity);
  return {};
}

}  // namespace

std::string check_packing(std::span<const PackItem> items, std::span<const std::int64_t> offsets,
                          std::optional<std::int64_t> capacity) {
  if (items.size() != offsets.size()) return fmt::format("{} offsets for {} buffers", offsets.size(), items.size());
  struct Event {
    std::int64_t time;
    bool begins;  // at equal times, ends come first
    std::size_t index;
    auto operator<=>(const Event&) const = default;
  };
  std::vector<Event> events;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (items[i].size == 0 || items[i].lower == items[i].upper) continue;
    if (std::string wrong = check_alone(i, items[i], offsets[i], capacity); !wrong.empty()) return wrong;
    events.push_back({items[i].lower, true, i});
    events.push_back({items[i].upper, false, i});
  }
  std::ranges::sort(events);
  std::map<std::int64_t, std::size_t> alive;  // by offset; as long as nothing is wrong, they do not overlap
  const auto overlap = [&](std::size_t low, std::size_t high) {
    return offsets[high] - offsets[low] < items[low].size;
  };
  for (const Event& event : events) {
    if (!event.begins) {
      alive.erase(offsets[event.index]);
      continue;
    }
    const auto [here, fresh] = alive.emplace(offsets[event.index], event.index);
    std::size_t other = event.index;
    if (!fresh) {
      other = here->second;
    } else if (std::next(here) != alive.end() && overlap(event.index, std::next(here)->second)) {
      other = std::next(here)->second;
    } else if (here != alive.begin() && overlap(std::prev(here)->second, event.index)) {
      other = std::prev(here)->second;
    }
    if (other != event.index)
      return fmt::format("buffers {} at {} and {} at {} overlap at time {}", std::min(other, event.index),
                         offsets[std::min(other, event.index)], std::max(other, event.index),
                         offsets[std::max(other, event.index)], event.time);
  }
  return {};
}

}  // namespace monet
