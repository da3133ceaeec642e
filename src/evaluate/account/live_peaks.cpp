// Time is cut into buckets of a few events each. What a memory holds at a bucket's end is known after one pass; with
// all that comes during the bucket it can be no more than a sum. Only where that sum is above the best end are events
// put in order.
#include "evaluate/account/totals.h"

#include <algorithm>
#include <cstdint>

namespace monet {

namespace {

struct LoadChange {
  double time;
  std::int64_t bytes;  // negative: they go
};

class Buckets {
 public:
  Buckets(std::size_t memories, const Schedule& schedule) : schedule_(schedule), first_(memories + 1, 0) {
    each_stay([&](const auto& stay) { ++first_[stay.memory.index() + 1]; });
    for (std::size_t i = 1; i <= memories; ++i) first_[i] = first_[i - 1] + (first_[i] + 1) / 2 + 1;
    for (std::size_t i = 0; i < memories; ++i) {
      scale_.push_back(schedule.cycles > 0 ? static_cast<double>(first_[i + 1] - first_[i]) / schedule.cycles : 0);
    }
    comes_.assign(first_.back(), 0);
    before_.assign(first_.back(), 0);
  }

  std::vector<std::int64_t> peaks() {
    fill();
    std::vector<std::int64_t> peaks(scale_.size(), 0);
    std::vector<bool> open(first_.back());
    for (std::size_t memory = 0; memory < peaks.size(); ++memory) peaks[memory] = best_end(memory);
    for (std::size_t memory = 0; memory < peaks.size(); ++memory) {
      for (std::size_t i = first_[memory]; i < first_[memory + 1]; ++i)
        open[i] = before_[i] + comes_[i] > peaks[memory];
    }
    const auto [events, start] = events_of(open);
    for (std::size_t memory = 0; memory < peaks.size(); ++memory) {
      for (std::size_t i = first_[memory]; i < first_[memory + 1]; ++i) {
        std::int64_t held = before_[i];
        for (std::size_t e = start[i]; e < start[i + 1]; ++e) {
          held += events[e].bytes;
          peaks[memory] = std::max(peaks[memory], held);
        }
      }
    }
    return peaks;
  }

 private:
  template <class Visit>
  void each_stay(const Visit& visit) const {
    for (const Stay& stay : schedule_.stays) visit(stay);
    for (const TensorStay& stay : schedule_.home) visit(stay);
  }

  std::size_t bucket(MemoryId memory, double time) const {
    const std::size_t count = first_[memory.index() + 1] - first_[memory.index()];
    const double at = std::clamp(time * scale_[memory.index()], 0.0, static_cast<double>(count - 1));
    return first_[memory.index()] + static_cast<std::size_t>(at);
  }

  // comes_: bytes that come during a bucket; before_: those that a memory holds before it.
  void fill() {
    each_stay([&](const auto& stay) {
      const std::size_t start = bucket(stay.memory, stay.start);
      comes_[start] += stay.bytes;
      before_[start] += stay.bytes;
      before_[bucket(stay.memory, stay.end)] -= stay.bytes;
    });
  }

  std::int64_t best_end(std::size_t memory) {
    std::int64_t held = 0, best = 0;
    for (std::size_t i = first_[memory]; i < first_[memory + 1]; ++i) {
      const std::int64_t change = before_[i];
      before_[i] = held;
      held += change;
      best = std::max(best, held);
    }
    return best;
  }

  // The events of open buckets in order, and where each bucket's start.
  std::pair<std::vector<LoadChange>, std::vector<std::uint32_t>> events_of(const std::vector<bool>& open) const {
    std::vector<std::uint32_t> start(open.size() + 1, 0);
    const auto each_event = [&](const auto& visit) {
      each_stay([&](const auto& stay) {
        const std::size_t comes = bucket(stay.memory, stay.start), goes = bucket(stay.memory, stay.end);
        if (open[comes]) visit(comes, LoadChange{stay.start, stay.bytes});
        if (open[goes]) visit(goes, LoadChange{stay.end, -stay.bytes});
      });
    };
    each_event([&](std::size_t i, const LoadChange&) { ++start[i + 1]; });
    for (std::size_t i = 1; i < start.size(); ++i) start[i] += start[i - 1];
    std::vector<LoadChange> events(start.back());
    std::vector<std::uint32_t> next(start.begin(), start.end() - 1);
    each_event([&](std::size_t i, const LoadChange& event) { events[next[i]++] = event; });
    const auto earlier = [](const LoadChange& a, const LoadChange& b) {
      return a.time != b.time ? a.time < b.time : a.bytes < b.bytes;
    };
    for (std::size_t i = 0; i + 1 < start.size(); ++i) {
      std::sort(events.begin() + start[i], events.begin() + start[i + 1], earlier);
    }
    return {std::move(events), std::move(start)};
  }

  const Schedule& schedule_;
  std::vector<std::size_t> first_;  // bucket of each memory
  std::vector<double> scale_;       // buckets in a cycle
  std::vector<std::int64_t> comes_, before_;
};

}  // namespace

std::vector<std::int64_t> live_peaks(std::size_t memories, const Schedule& schedule) {
  return Buckets(memories, schedule).peaks();
}

}  // namespace monet
