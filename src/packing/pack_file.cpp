#include <monet/pack.h>

#include "base/quantities.h"
#include "base/read_file.h"
#include "base/stop.h"
#include "base/try.h"
#include "packing/check.h"
#include "packing/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace monet {

namespace {

// Where the load is largest, first in time, and who is alive there.
void find_fullest(Packing& packing) {
  struct Event {
    std::int64_t time, change;  // ends come first
    auto operator<=>(const Event&) const = default;
  };
  std::vector<Event> events;
  for (const PackedBuffer& buffer : packing.buffers) {
    if (buffer.lower == buffer.upper) continue;
    events.push_back({buffer.lower, buffer.size});
    events.push_back({buffer.upper, -buffer.size});
  }
  std::ranges::sort(events);
  std::int64_t load = 0;
  for (const Event& event : events) {
    load += event.change;
    if (load <= packing.max_load_bytes) continue;
    packing.max_load_bytes = load;
    packing.fullest_time = event.time;
  }
  for (std::size_t i = 0; i < packing.buffers.size(); ++i) {
    const PackedBuffer& buffer = packing.buffers[i];
    if (buffer.lower <= packing.fullest_time && packing.fullest_time < buffer.upper) packing.fullest.push_back(i);
  }
  std::ranges::stable_sort(packing.fullest, std::greater(), [&](std::size_t i) { return packing.buffers[i].size; });
}

// What does not fit is packed as small as can be, to say how much would do.
PackResult pack_table(const PackTable& table, const PackOptions& options) {
  PackLimits limits{.capacity = options.capacity, .stop = options.stop};
  if (options.time_limit_s) {
    constexpr double as_long_as_there_is_time = 1e9;
    limits.time_limit_s = *options.time_limit_s;
    limits.effort = as_long_as_there_is_time;
    limits.stop = stop_after(*options.time_limit_s, options.stop);  // of both packings together
  }
  PackResult within = pack(table.items, limits);
  if (within.placed) return within;
  limits.capacity.reset();
  PackResult smallest = pack(table.items, limits);
  smallest.placed = smallest.peak <= *options.capacity;
  if (!smallest.placed) smallest.proven = within.proven;
  return smallest;
}

std::string fullest_text(const Packing& packing) {
  constexpr std::size_t most = 8, longest = 60;
  std::string names;
  for (std::size_t i = 0; i < std::min(packing.fullest.size(), most); ++i) {
    const PackedBuffer& buffer = packing.buffers[packing.fullest[i]];
    const std::string name = buffer.id.size() > longest ? buffer.id.substr(0, longest) + "…" : buffer.id;
    names += fmt::format("{}{} ({})", i == 0 ? "" : ", ", name, byte_size(buffer.size));
  }
  if (packing.fullest.size() > most) names += fmt::format(" and {} more", packing.fullest.size() - most);
  return names;
}

}  // namespace

Expected<Packing> pack_file(const std::string& path, const PackOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  MONET_TRY(const std::string text, read_file(path));
  MONET_TRY(PackTable table, read_pack_csv(text, path));
  const PackResult result = pack_table(table, options);
  const std::string fault = check_packing(table.items, result.offsets, result.placed ? options.capacity : std::nullopt);
  if (!fault.empty()) return Error{.kind = ErrorKind::defect, .message = fault, .place = path};

  Packing packing{.file = path, .capacity = options.capacity, .peak_bytes = result.peak};
  packing.placed = result.placed;
  packing.proven = result.proven;
  packing.notes = std::move(table.notes);
  for (std::size_t i = 0; i < table.items.size(); ++i) {
    const PackItem& item = table.items[i];
    packing.buffers.push_back(
        {std::move(table.ids[i]), item.lower, item.upper, item.size, item.alignment, result.offsets[i]});
  }
  find_fullest(packing);
  packing.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return packing;
}

Error does_not_fit(const Packing& packing) {
  const std::int64_t capacity = packing.capacity.value_or(0);
  Error error{.kind = ErrorKind::infeasible, .place = packing.file};
  if (packing.max_load_bytes > capacity) {
    error.message = fmt::format(
        "the buffers do not fit into {}: at time {}, {} are alive with {}, which is {} too much: {}",
        bytes_text(capacity), packing.fullest_time, packing.fullest.size(), bytes_text(packing.max_load_bytes),
        bytes_text(packing.max_load_bytes - capacity), fullest_text(packing));
    error.advice = fmt::format("a packing into {} was found", bytes_text(packing.peak_bytes));
    return error;
  }
  error.message = fmt::format(
      "{} into {}, although no more than {} are alive at once (at time {}: {}); the best packing found takes {}, which "
      "is {} too much",
      packing.proven ? "it is certain that the buffers do not fit" : "no packing of the buffers was found",
      bytes_text(capacity), bytes_text(packing.max_load_bytes), packing.fullest_time, fullest_text(packing),
      bytes_text(packing.peak_bytes), bytes_text(packing.peak_bytes - capacity));
  error.advice = packing.proven ? "give more capacity" : "search longer with --time-limit, or give more capacity";
  return error;
}

}  // namespace monet
