#include "packing/search.h"

#include <algorithm>
#include <limits>

namespace monet::packing {

namespace {
constexpr std::int64_t no_offset = std::numeric_limits<std::int64_t>::max();
}

Search::Search(const Problem& problem, std::span<const std::int32_t> order)
    : problem_(problem), order_(order.begin(), order.end()) {
  const auto sections = static_cast<std::size_t>(problem.sections());
  failures_.assign(sections, 0);
  queued_.assign(sections, 0);
  member_begin_.assign(sections + 1, 0);
  smallest_ = no_offset;
  for (const std::int32_t i : order_) {
    buffers_.push_back({.first = problem.first[i], .last = problem.last[i], .size = problem.size[i]});
    alignment_.push_back(problem.alignment[i]);
    smallest_ = std::min(smallest_, problem.size[i]);
    for (std::int32_t s = problem.first[i]; s < problem.last[i]; ++s) ++member_begin_[s + 1];
  }
  for (std::size_t s = 0; s < sections; ++s) member_begin_[s + 1] += member_begin_[s];
  member_.resize(static_cast<std::size_t>(member_begin_.back()));
  std::vector<std::int32_t> next(member_begin_.begin(), member_begin_.end() - 1);
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    for (std::int32_t s = buffers_[i].first; s < buffers_[i].last; ++s)
      member_[next[s]++] = static_cast<std::int32_t>(i);
  }
  offset_.assign(buffers_.size(), 0);
}

std::vector<std::int64_t> Search::offsets() const {
  std::vector<std::int64_t> result(offset_.size());
  for (std::size_t i = 0; i < offset_.size(); ++i) result[static_cast<std::size_t>(order_[i])] = offset_[i];
  return result;
}

std::span<const std::int32_t> Search::members(std::int32_t section) const {
  return {member_.data() + member_begin_[section], member_.data() + member_begin_[section + 1]};
}

std::span<const std::int32_t> Search::list(const Frame& frame) const {
  return {lists_.data() + frame.begin, lists_.data() + frame.end};
}

// All buffers at the bottom, none placed. False when a section is too full from the start.
bool Search::start(std::int64_t capacity) {
  capacity_ = capacity;
  frames_.clear();
  lists_.clear();
  parts_.clear();
  changes_.clear();
  sections_.assign(static_cast<std::size_t>(problem_.sections()), {});
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    Buffer& buffer = buffers_[i];
    buffer.support = buffer.bound = 0;
    lists_.push_back(static_cast<std::int32_t>(i));
    for (std::int32_t s = buffer.first; s + 1 < buffer.last; ++s) ++sections_[s].crossing;
  }
  for (std::int32_t s = 0; s < problem_.sections(); ++s) {
    sections_[s].left = problem_.load[s];
    sections_[s].witness = members(s).front();
    if (sections_[s].left > capacity) return false;
  }
  frames_.push_back({.end = static_cast<std::int32_t>(lists_.size())});
  return true;
}

Outcome Search::run(std::int64_t capacity, SearchLimit& limit) {
  if (!start(capacity)) return Outcome::impossible;
  if (buffers_.empty()) return Outcome::found;
  constexpr int nodes_between_clocks = 256;
  for (int nodes = 0;; ++nodes) {
    limit.work -= work_;
    work_ = 0;
    if (limit.work <= 0 || (nodes % nodes_between_clocks == 0 && limit.reached())) return Outcome::gave_up;
    Frame& frame = frames_.back();
    if (choose(frame)) {
      if (place(frame)) {
        divide(frame);
        if (!descend()) return Outcome::found;
        continue;
      }
      undo(frame.changes);
      if (pass_over(frame)) continue;
    }
    if (!back_up()) return Outcome::impossible;
  }
}

// The lowest place to be had, the first in order there; the bounds of those passed over follow. False: a dead end.
bool Search::choose(Frame& frame) {
  while (true) {
    std::int64_t offset = no_offset, lowest_top = no_offset;
    std::int32_t chosen = -1, lowest = -1;
    work_ += frame.end - frame.begin;
    for (const std::int32_t i : list(frame)) {
      const Buffer& buffer = buffers_[i];
      if (buffer.is_placed()) continue;
      if (buffer.support + buffer.size < lowest_top) {
        lowest_top = buffer.support + buffer.size;
        lowest = i;
      }
      if (buffer.bound == buffer.support && buffer.support < offset) {
        offset = buffer.support;
        chosen = i;
      }
    }
    if (chosen < 0) {
      reason_ = {buffers_[lowest].first, buffers_[lowest].last};
      for (const std::int32_t i : list(frame)) {
        if (!buffers_[i].is_placed()) reason_.add(buffers_[i].first, buffers_[i].last);
      }
      return false;
    }
    if (!raise_passed_over(frame, offset)) return false;
    // It could be pushed down below all that is to come: a packing met before.
    if (lowest_top <= offset) return fail(buffers_[lowest].first, buffers_[lowest].last);
    if (buffers_[chosen].bound != buffers_[chosen].support) continue;
    frame.chosen = chosen;
    frame.changes = changes_.size();
    frame.lists = static_cast<std::int32_t>(lists_.size());
    return true;
  }
}

// Whoever was passed over below `offset` lies on something at or above it.
bool Search::raise_passed_over(const Frame& frame, std::int64_t offset) {
  const std::size_t before = changes_.size();
  for (const std::int32_t i : list(frame)) {
    Buffer& buffer = buffers_[i];
    if (buffer.bound >= offset) continue;
    changes_.push_back({Change::Kind::buffer, i, buffer.support, buffer.bound});
    buffer.bound = offset;
  }
  const std::size_t after = changes_.size();
  if (after == before) return true;
  changes_.push_back({Change::Kind::together, -1, static_cast<std::int64_t>(after - before), 0});
  for (std::size_t c = before; c < after; ++c) examine_span(changes_[c].index);
  if (!propagate()) return false;
  for (std::size_t c = before; c < after; ++c) {
    const std::int32_t i = changes_[c].index;
    const Buffer& buffer = buffers_[i];
    std::int64_t lowest = no_offset, lowest_top = no_offset;
    work_ += frame.end - frame.begin;
    for (const std::int32_t j : list(frame)) {
      const Buffer& other = buffers_[j];
      if (other.is_placed() || j == i || !other.meets(buffer)) continue;
      lowest = std::min(lowest, other.bound);
      lowest_top = std::min(lowest_top, other.bound + other.size);
    }
    if (lowest >= buffer.support + buffer.size) {
      fail(buffer.first, buffer.last);
      return drop_queue();
    }
    if (!set_bound(i, align_up(lowest_top, alignment_[i]))) return drop_queue();
  }
  return propagate();
}

bool Search::place(const Frame& frame) {
  const std::int32_t chosen = frame.chosen;
  Buffer& buffer = buffers_[chosen];
  const std::int64_t top = buffer.support + buffer.size;
  offset_[chosen] = buffer.support;
  changes_.push_back({Change::Kind::place, chosen, buffer.support, buffer.bound});
  buffer.support = buffer.bound = placed;
  for (std::int32_t s = buffer.first; s < buffer.last; ++s) {
    sections_[s].left -= buffer.size;
    if (s + 1 < buffer.last) --sections_[s].crossing;
    if (sections_[s].witness == chosen) examine(s);
  }
  work_ += frame.end - frame.begin + buffer.last - buffer.first;
  bool fits = true;
  for (const std::int32_t i : list(frame)) {
    Buffer& other = buffers_[i];
    if (other.support >= top || !other.meets(buffer)) continue;
    changes_.push_back({Change::Kind::buffer, i, other.support, other.bound});
    other.support = align_up(top, alignment_[i]);
    if (other.bound >= other.support) continue;
    other.bound = other.support;
    if (other.bound + other.size > capacity_) {
      fits = fail(other.first, other.last);
      break;
    }
    examine_span(i);
  }
  return fits ? propagate() : drop_queue();
}

// Lists what is left to place, in parts that have nothing to do with each other.
void Search::divide(Frame& frame) {
  const Buffer& buffer = buffers_[frame.chosen];
  frame.parts = static_cast<std::int32_t>(parts_.size());
  bool cut = buffer.last - buffer.first == 1;
  for (std::int32_t s = buffer.first; s + 1 < buffer.last && !cut; ++s) cut = sections_[s].crossing == 0;
  if (cut) {
    divide_at_cuts(frame);
  } else {
    const auto left = std::ranges::count_if(list(frame), [&](std::int32_t i) { return !buffers_[i].is_placed(); });
    Part part{frame.begin, frame.end};
    if (4 * left < 3 * (frame.end - frame.begin)) {
      part.begin = static_cast<std::int32_t>(lists_.size());
      for (std::int32_t k = frame.begin; k < frame.end; ++k) {
        if (!buffers_[lists_[k]].is_placed()) lists_.push_back(lists_[k]);
      }
      part.end = static_cast<std::int32_t>(lists_.size());
    }
    parts_.push_back(part);
  }
  frame.parts_end = static_cast<std::int32_t>(parts_.size());
  frame.part_next = frame.parts;
}

void Search::divide_at_cuts(Frame& frame) {
  const auto begin = static_cast<std::int32_t>(lists_.size());
  for (std::int32_t k = frame.begin; k < frame.end; ++k) {
    if (!buffers_[lists_[k]].is_placed()) lists_.push_back(lists_[k]);
  }
  const auto by_start = [&](std::int32_t i) { return buffers_[i].first; };
  std::sort(lists_.begin() + begin, lists_.end(),
            [&](std::int32_t a, std::int32_t b) { return by_start(a) < by_start(b); });
  const auto end = static_cast<std::int32_t>(lists_.size());
  for (std::int32_t k = begin; k < end;) {
    const std::int32_t part = k;
    std::int32_t until = buffers_[lists_[k]].last;
    for (++k; k < end && buffers_[lists_[k]].first < until; ++k) until = std::max(until, buffers_[lists_[k]].last);
    std::sort(lists_.begin() + part, lists_.begin() + k);
    parts_.push_back({part, k});
  }
  work_ += frame.end - frame.begin;
  // Small ones first: if one is a dead end, that is found soon.
  std::stable_sort(parts_.begin() + frame.parts, parts_.end(),
                   [](const Part& a, const Part& b) { return a.end - a.begin < b.end - b.begin; });
}

// To the next part that waits. False: there is none, all is placed.
bool Search::descend() {
  auto waiting = static_cast<std::int32_t>(frames_.size()) - 1;
  while (waiting >= 0 && frames_[waiting].part_next == frames_[waiting].parts_end) waiting = frames_[waiting].parent;
  if (waiting < 0) return false;
  const Part part = parts_[frames_[waiting].part_next++];
  frames_.push_back({.parent = waiting, .begin = part.begin, .end = part.end});
  return true;
}

// To the last decision that has to do with the dead end, which is taken back. False: there is none.
bool Search::back_up() {
  while (frames_.back().parent >= 0) {
    frames_.resize(static_cast<std::size_t>(frames_.back().parent) + 1);
    Frame& frame = frames_.back();
    undo(frame.changes);
    parts_.resize(static_cast<std::size_t>(frame.parts));
    lists_.resize(static_cast<std::size_t>(frame.lists));
    if (reason_.meets(buffers_[frame.chosen]) && pass_over(frame)) return true;
  }
  return false;
}

// The chosen buffer, just taken back, will lie on top of another one of the frame. False: that cannot be, either.
bool Search::pass_over(const Frame& frame) {
  const Buffer& buffer = buffers_[frame.chosen];
  reason_.add(buffer.first, buffer.last);
  const Reason reason = reason_;
  std::int64_t lowest = no_offset, lowest_top = no_offset;
  work_ += frame.end - frame.begin;
  for (const std::int32_t i : list(frame)) {
    const Buffer& other = buffers_[i];
    if (other.is_placed() || i == frame.chosen || !other.meets(buffer)) continue;
    lowest = std::min(lowest, other.bound);
    lowest_top = std::min(lowest_top, other.bound + other.size);
  }
  if (lowest_top == no_offset || lowest >= buffer.support + buffer.size) return false;
  const auto [first, last, size, support, bound] = buffer;
  for (const std::int32_t i : list(frame)) {
    const Buffer& twin = buffers_[i];  // and itself
    const bool same = twin.first == first && twin.last == last && twin.size == size && twin.support == support &&
                      alignment_[i] == alignment_[frame.chosen];
    if (!same) continue;
    changes_.push_back({Change::Kind::passed_over, i, reason.begin, reason.end});
    if (!set_bound(i, align_up(lowest_top, alignment_[i]))) return drop_queue();
  }
  return propagate();
}

}  // namespace monet::packing
