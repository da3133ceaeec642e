// Points of a box and elements under a point: all of them where they are few, else some, always the same ones.
#pragma once

#include "graph/nests.h"

#include <cstdint>
#include <vector>

namespace monet::check {

// A small generator of numbers that depend on the seed alone (splitmix64, Steele et al. 2014).
class Mixer {
 public:
  explicit Mixer(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15U;
    z = (z ^ z >> 30U) * 0xbf58476d1ce4e5b9U;
    z = (z ^ z >> 27U) * 0x94d049bb133111ebU;
    return z ^ z >> 31U;
  }

 private:
  std::uint64_t state_;
};

// Integers from low to below high, for each axis.
struct Box {
  Shape low;
  Shape high;

  void clear() {
    low.clear();
    high.clear();
  }
  void add(std::int64_t from, std::int64_t to) {
    low.push_back(from);
    high.push_back(to);
  }
  bool empty() const {
    for (std::size_t i = 0; i < low.size(); ++i) {
      if (low[i] >= high[i]) return true;
    }
    return false;
  }
};

// Calls visit(point) until it returns false, for every point of the box if there are at most `all_up_to`; else for the
// two outermost corners and `some` others, which are at the border as often as inside. Gives whether all were visited.
template <class Visit>
bool visit_points(const Box& box, std::int64_t all_up_to, std::size_t some, Mixer& mixer, Shape& point,
                  const Visit& visit) {
  if (box.empty()) return true;
  std::int64_t points = 1;
  for (std::size_t i = 0; i < box.low.size() && points <= all_up_to; ++i) {
    points = box.high[i] - box.low[i] > all_up_to ? all_up_to + 1 : points * (box.high[i] - box.low[i]);
  }
  point = box.low;
  if (points <= all_up_to) {
    while (true) {
      if (!visit(point)) return true;
      std::size_t i = point.size();
      for (; i > 0 && ++point[i - 1] == box.high[i - 1]; --i) point[i - 1] = box.low[i - 1];
      if (i == 0) return true;
    }
  }
  for (std::size_t n = 0; n < some + 2; ++n) {
    for (std::size_t i = 0; i < point.size(); ++i) {
      const std::uint64_t number = n < 2 ? n : mixer.next();
      const auto width = static_cast<std::uint64_t>(box.high[i] - box.low[i]);
      switch (number % 4) {
        case 0: point[i] = box.low[i]; break;
        case 1: point[i] = box.high[i] - 1; break;
        default: point[i] = box.low[i] + static_cast<std::int64_t>((number >> 2U) % width);
      }
    }
    if (!visit(point)) return false;
  }
  return false;
}

}  // namespace monet::check
