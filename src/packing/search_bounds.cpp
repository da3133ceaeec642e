// Bounds of buffers and sections: what follows from them, and how they are put back.
#include "packing/search.h"

#include <algorithm>
#include <limits>

namespace monet::packing {

bool Search::set_bound(std::int32_t index, std::int64_t bound) {
  Buffer& buffer = buffers_[index];
  if (buffer.bound >= bound) return true;
  changes_.push_back({Change::Kind::buffer, index, buffer.support, buffer.bound});
  buffer.bound = bound;
  if (bound + buffer.size > capacity_) return fail(buffer.first, buffer.last);
  examine_span(index);
  return true;
}

void Search::examine(std::int32_t section) {
  if (queued_[section] != 0) return;
  queued_[section] = 1;
  queue_.push_back(section);
}

// Sections where a raised bound can matter: it was the least there, or there is no room for a gap.
void Search::examine_span(std::int32_t index) {
  const Buffer& buffer = buffers_[index];
  work_ += buffer.last - buffer.first;
  for (std::int32_t s = buffer.first; s < buffer.last; ++s) {
    const Section& section = sections_[s];
    if (section.witness == index || capacity_ - section.bound - section.left < smallest_) examine(s);
  }
}

bool Search::propagate() {
  for (std::size_t q = 0; q < queue_.size(); ++q) {
    queued_[queue_[q]] = 0;
    if (!tighten(queue_[q])) return drop_queue();
  }
  queue_.clear();
  return true;
}

bool Search::drop_queue() {
  for (const std::int32_t section : queue_) queued_[section] = 0;
  queue_.clear();
  return false;
}

// The least bound of a section; and what cannot be lowest there lies above one that can.
bool Search::tighten(std::int32_t index) {
  Section& section = sections_[index];
  if (section.left == 0) return true;
  const std::span<const std::int32_t> here = members(index);
  work_ += 2 * static_cast<std::int64_t>(here.size());
  const std::int64_t lowest_at_most = capacity_ - section.left;
  std::int64_t bound = placed, top = std::numeric_limits<std::int64_t>::max();
  std::int32_t witness = -1;
  for (const std::int32_t i : here) {
    const Buffer& buffer = buffers_[i];
    if (buffer.bound < bound) {
      bound = buffer.bound;
      witness = i;
    }
    if (buffer.bound <= lowest_at_most) top = std::min(top, buffer.bound + buffer.size);
  }
  if (bound != section.bound || witness != section.witness) {
    changes_.push_back({Change::Kind::section, index, section.bound, section.witness});
    section.bound = bound;
    section.witness = witness;
  }
  if (bound > lowest_at_most) {
    ++failures_[index];
    return fail(index, index + 1);
  }
  for (const std::int32_t i : here) {
    const Buffer& buffer = buffers_[i];
    if (buffer.bound > lowest_at_most && buffer.bound < top && !set_bound(i, align_up(top, alignment_[i])))
      return false;
  }
  return true;
}

bool Search::fail(std::int32_t first, std::int32_t last) {
  reason_ = {first, last};
  return false;
}

void Search::Reason::add(std::int32_t first, std::int32_t last) {
  begin = std::min(begin, first);
  end = std::max(end, last);
}

// Puts back, and widens the reason by what led to it.
void Search::undo(std::size_t changes) {
  while (changes_.size() > changes) {
    const Change change = changes_.back();
    changes_.pop_back();
    switch (change.kind) {
      case Change::Kind::section:
        sections_[change.index].bound = change.a;
        sections_[change.index].witness = static_cast<std::int32_t>(change.b);
        break;
      case Change::Kind::place: {
        const Buffer& buffer = buffers_[change.index];
        for (std::int32_t s = buffer.first; s < buffer.last; ++s) {
          sections_[s].left += buffer.size;
          if (s + 1 < buffer.last) ++sections_[s].crossing;
        }
        [[fallthrough]];
      }
      case Change::Kind::buffer: {
        Buffer& buffer = buffers_[change.index];
        buffer.support = change.a;
        buffer.bound = change.b;
        if (reason_.meets(buffer)) reason_.add(buffer.first, buffer.last);
        break;
      }
      case Change::Kind::passed_over:
        if (reason_.meets(buffers_[change.index]))
          reason_.add(static_cast<std::int32_t>(change.a), static_cast<std::int32_t>(change.b));
        break;
      case Change::Kind::together:
        for (bool wider = true; wider;) {
          wider = false;
          for (std::size_t c = changes_.size() - static_cast<std::size_t>(change.a); c < changes_.size(); ++c) {
            const Buffer& buffer = buffers_[changes_[c].index];
            if (!reason_.meets(buffer) || (reason_.begin <= buffer.first && buffer.last <= reason_.end)) continue;
            reason_.add(buffer.first, buffer.last);
            wider = true;
          }
        }
        break;
    }
  }
}

}  // namespace monet::packing
