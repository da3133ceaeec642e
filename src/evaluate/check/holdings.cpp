#include "evaluate/check/holdings.h"

#include <algorithm>
#include <array>
#include <tuple>

namespace monet::check {

std::string_view name_of(Found found) {
  static constexpr std::array<std::string_view, 5> names = {"is there", "has no room there for all of the time",
                                                            "is not there in time", "is not there as a whole",
                                                            "is overwritten there meanwhile"};
  return names[static_cast<std::size_t>(found)];
}

Holdings::Holdings(const CheckContext& context)
    : context_(context),
      home_write_(context.tiles.buffers.size(), std::numeric_limits<double>::infinity()),
      away_write_(home_write_) {
  find_sharing();
  collect();
  sort_held();
  add_tile_events();
  add_transfer_events();
  sort_events();
  find_overwritten();
}

void Holdings::find_sharing() {
  const auto& tensors = context_.graph.tensors();
  std::vector<std::vector<TensorId>> updaters(tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (!tensors[i].updates.valid()) continue;
    TensorId stored(i);
    updaters[tensors[i].updates.index()].push_back(stored);
    // What is only called otherwise or shaped otherwise may be stored there too.
    for (NodeId view = tensors[i].producer; view.valid(); view = context_.graph[stored].producer) {
      const Op op = context_.graph[view].op;
      if (op != Op::Identity && op != Op::Reshape) break;
      stored = context_.graph[view].inputs.front();
      updaters[tensors[i].updates.index()].push_back(stored);
    }
  }
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    first_sharing_.push_back(static_cast<std::uint32_t>(sharing_.size()));
    sharing_.emplace_back(i);
    for (std::size_t next = first_sharing_.back(); next < sharing_.size(); ++next) {
      for (const TensorId updater : updaters[sharing_[next].index()]) {
        const auto own = std::span(sharing_).subspan(first_sharing_.back());
        if (std::ranges::find(own, updater) == own.end()) sharing_.push_back(updater);
      }
    }
  }
  first_sharing_.push_back(static_cast<std::uint32_t>(sharing_.size()));
}

std::span<const TensorId> Holdings::sharing(TensorId tensor) const {
  const std::uint32_t first = first_sharing_[tensor.index()];
  return std::span(sharing_).subspan(first, first_sharing_[tensor.index() + 1] - first);
}

void Holdings::collect() {
  const TileGraph& tiles = context_.tiles;
  for (const Stay& stay : context_.schedule.stays) {
    if (!stay.buffer.valid()) continue;
    held_.push_back(
        {.buffer = stay.buffer, .memory = stay.memory, .start = stay.start, .end = stay.end, .bytes = stay.bytes});
  }
  for (const TensorStay& stay : context_.schedule.home) {
    const bool away = context_.lives_away(stay.tensor);
    for (const TensorId tensor : sharing(stay.tensor)) {
      const bool given = !context_.graph[tensor].producer.valid() && context_.not_after(stay.start, 0) &&
                         (!away || stay.memory == context_.away(stay.tensor));
      for (std::size_t i = tiles.first_buffer[tensor.index()]; i < tiles.first_buffer[tensor.index() + 1]; ++i) {
        held_.push_back({.buffer = BufferId(i),
                         .memory = stay.memory,
                         .start = stay.start,
                         .end = stay.end,
                         .bytes = tiles.buffers[i].bytes,
                         .at_home = true,
                         .given = given});
      }
    }
  }
}

void Holdings::sort_held() {
  const auto key = [](const Held& held) { return std::tuple(held.buffer, held.memory, held.start, held.end); };
  std::ranges::sort(held_, {}, key);
  first_held_.assign(context_.tiles.buffers.size() + 1, 0);
  for (const Held& held : held_) ++first_held_[held.buffer.index() + 1];
  for (std::size_t i = 1; i < first_held_.size(); ++i) first_held_[i] += first_held_[i - 1];
  for (std::size_t i = 0; i < held_.size(); ++i) {
    Held& held = held_[i];
    const bool continues = i > 0 && held_[i - 1].buffer == held.buffer && held_[i - 1].memory == held.memory;
    held.last_end = continues ? std::max(held.end, held_[i - 1].last_end) : held.end;
    if (held.given) events_.push_back({static_cast<std::uint32_t>(i), held.start, 0, held.bytes});
  }
}

std::pair<std::size_t, std::size_t> Holdings::entries(BufferId buffer, MemoryId memory) const {
  const auto begin = held_.begin() + first_held_[buffer.index()];
  const auto end = held_.begin() + first_held_[buffer.index() + 1];
  const auto found = std::ranges::equal_range(begin, end, memory, {}, &Held::memory);
  return {found.begin() - held_.begin(), found.end() - held_.begin()};
}

template <class Visit>
bool Holdings::visit_covering(BufferId buffer, MemoryId memory, double start, double end, const Visit& visit) const {
  const auto [first, last] = entries(buffer, memory);
  const auto after = std::upper_bound(held_.begin() + static_cast<std::ptrdiff_t>(first),
                                      held_.begin() + static_cast<std::ptrdiff_t>(last), start + context_.tolerance,
                                      [](double time, const Held& held) { return time < held.start; });
  for (auto i = static_cast<std::size_t>(after - held_.begin()); i-- > first;) {
    if (!context_.not_after(end, held_[i].last_end)) return false;
    if (context_.not_after(end, held_[i].end) && visit(i)) return true;
  }
  return false;
}

std::span<const MemoryId> Holdings::places(TileId tile, Path path) const {
  const CoreId core = context_.at(tile).core;
  if (context_.streams(tile, path)) return std::span(context_.schedule.home_of).subspan(core.index(), 1);
  return context_.local[core.index()][static_cast<std::size_t>(path)];
}

void Holdings::add_tile_events() {
  const TileGraph& tiles = context_.tiles;
  for (std::size_t i = 0; i < tiles.tiles(); ++i) {
    const TileId tile(i);
    const ScheduledTile& at = context_.at(tile);
    for (const TileWrite& write : tiles.writes_of(tile)) {
      const Buffer& buffer = tiles.buffers[write.buffer.index()];
      const auto version = static_cast<std::uint32_t>(i + 1 - context_.chain_of(write.buffer).first.index());
      bool room = false;
      for (const MemoryId memory : places(tile, Path::output)) {
        visit_covering(write.buffer, memory, at.start, at.end, [&](std::size_t held) {
          if (held_[held].bytes < buffer.bytes) return false;
          room = true;
          if (context_.is_home[memory.index()]) {
            home_write_[write.buffer.index()] = std::min(home_write_[write.buffer.index()], at.start);
          }
          events_.push_back({static_cast<std::uint32_t>(held), at.end, version, buffer.bytes});
          return true;
        });
      }
      if (room || buffer.bytes == 0) continue;
      context_.findings.add("{} ({} to {}) has no room in {} for its result, {}", context_.name(tile), at.start, at.end,
                            context_.name(places(tile, Path::output).front()), context_.name(write.buffer));
    }
  }
}

void Holdings::add_transfer_events() {
  const auto& transfers = context_.schedule.transfers;
  for (std::size_t i = 0; i < transfers.size(); ++i) {
    const ScheduledTransfer& transfer = transfers[i];
    bool room = false;
    visit_covering(transfer.buffer, transfer.to, transfer.start, transfer.end, [&](std::size_t held) {
      if (held_[held].bytes < std::min(transfer.bytes, context_.tiles.buffers[transfer.buffer.index()].bytes))
        return false;
      room = true;
      events_.push_back({static_cast<std::uint32_t>(held), transfer.end, version_at(transfer.buffer, transfer.start),
                         transfer.bytes});
      return false;
    });
    if (!room) {
      context_.findings.add("{}: no room is kept for it at its destination all the while", context_.transfer_name(i));
    }
    if (transfer.kind == TransferKind::page_out) {
      double& first = away_write_[transfer.buffer.index()];
      first = std::min(first, transfer.start);
    } else if (context_.is_home[transfer.to.index()] && transfer.kind != TransferKind::page_in) {
      double& first = home_write_[transfer.buffer.index()];
      first = std::min(first, transfer.start);
    }
  }
}

void Holdings::sort_events() {
  std::ranges::sort(events_, {}, [](const Event& event) { return std::tuple(event.held, event.time, event.version); });
  for (std::size_t i = 0; i < events_.size(); ++i) {
    Event& event = events_[i];
    Held& held = held_[event.held];
    if (held.events++ == 0) {
      held.first_event = static_cast<std::uint32_t>(i);
      continue;
    }
    const Event& before = events_[i - 1];
    // More of the same version joins what is there; a newer one takes its place.
    if (event.version == before.version) event.bytes = std::min(held.bytes, before.bytes + event.bytes);
    if (event.version < before.version) {
      event.version = before.version;
      event.bytes = before.bytes;
    }
  }
}

std::uint32_t Holdings::version_at(BufferId buffer, double time) const {
  const Chain chain = context_.chain_of(buffer);
  if (chain.length == 0) return 0;
  const auto first = context_.schedule.tiles.begin() + static_cast<std::ptrdiff_t>(chain.first.index());
  const auto after = std::partition_point(
      first, first + chain.length, [&](const ScheduledTile& tile) { return context_.not_after(tile.end, time); });
  return static_cast<std::uint32_t>(after - first);
}

void Holdings::find_overwritten() {
  const auto& tensors = context_.graph.tensors();
  std::vector<bool> has_own(tensors.size(), false);
  for (const TensorStay& stay : context_.schedule.home) has_own[stay.tensor.index()] = true;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (!tensors[i].updates.valid() || has_own[i]) continue;
    overwrite(tensors[i].updates, TensorId(i), false);
    if (context_.lives_away(TensorId(i))) overwrite(tensors[i].updates, TensorId(i), true);
  }
}

// A buffer of the old value is gone when all that takes its place has begun to be written. What that is, is known where
// the tile that makes the new value reads the old one; else it is the whole tensor.
void Holdings::overwrite(TensorId old, TensorId by, bool away) {
  const TileGraph& tiles = context_.tiles;
  const std::uint32_t first_old = tiles.first_buffer[old.index()];
  const std::uint32_t first_new = tiles.first_buffer[by.index()];
  if (context_.buffers_of(by).empty()) return;
  constexpr double never = std::numeric_limits<double>::infinity();
  std::vector<double> whole(context_.buffers_of(old).size(), never);
  std::vector<double> partly(whole.size(), -never);
  double all = -never;
  for (std::size_t i = first_new; i < tiles.first_buffer[by.index() + 1]; ++i) {
    const double written = away ? away_write_[i] : home_write_[i];
    all = std::max(all, written);
    const Chain chain = context_.chain_of(BufferId(i));
    for (std::size_t tile = chain.first.index(); tile < chain.first.index() + chain.length; ++tile) {
      for (const TileRead& read : tiles.reads_of(TileId(tile))) {
        const Buffer& buffer = tiles.buffers[read.buffer.index()];
        if (buffer.tensor != old) continue;
        const std::size_t number = read.buffer.index() - first_old;
        if (tiles.part(read).bytes >= buffer.bytes) {
          whole[number] = std::min(whole[number], written);
        } else {
          partly[number] = std::max(partly[number], written);
        }
      }
    }
  }
  for (std::size_t i = 0; i < whole.size(); ++i) {
    double gone = std::min(whole[i], partly[i] > -never ? partly[i] : never);
    if (whole[i] == never && partly[i] == -never) gone = all;
    for (std::size_t held = first_held_[first_old + i]; held < first_held_[first_old + i + 1]; ++held) {
      const bool there = context_.lives_away(old) && held_[held].memory == context_.away(old);
      if (held_[held].at_home && there == away) held_[held].overwritten = std::min(held_[held].overwritten, gone);
    }
  }
}

Found Holdings::judge(const Held& held, const Need& need) const {
  const auto first = events_.begin() + held.first_event;
  const auto after = std::upper_bound(first, first + held.events, need.start + context_.tolerance,
                                      [](double time, const Event& event) { return time < event.time; });
  if (after == first || (after - 1)->version < need.version) return Found::not_there;
  if ((after - 1)->bytes < need.bytes) return Found::not_all;
  if (!need.may_overwrite && !context_.not_after(need.end, held.overwritten)) return Found::overwritten;
  return Found::present;
}

Found Holdings::find(const Need& need) const {
  if (need.bytes == 0) return Found::present;
  Found result = Found::no_room;
  visit_covering(need.buffer, need.memory, need.start, need.end, [&](std::size_t i) {
    result = judge(held_[i], need);
    return result == Found::present;
  });
  return result;
}

}  // namespace monet::check
