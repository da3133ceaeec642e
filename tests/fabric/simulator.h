// A slow machine on which collectives run message by message: chips with ports, data that know whose sums they are. It
// shares with the library the description of a fabric alone.
#pragma once

#include "hardware/fabric.h"

#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <vector>

namespace monet::simulated {

struct Message {
  std::vector<int> path;   // chips from the sender to the receiver
  std::vector<int> items;  // of the buffer
  bool adds = false;       // to what the receiver has; else it takes its place
};
using Step = std::vector<Message>;  // all begin together, and the next step when all are there
using Steps = std::vector<Step>;

class Machine {
 public:
  Machine(const Fabric& fabric, int chips, int items, double bytes_per_item)
      : fabric_(fabric), held_(chips, std::vector<std::uint32_t>(items, 0)), bytes_per_item_(bytes_per_item) {}

  // The chips whose data are summed in an item, as bits; 0: the chip does not have it.
  std::uint32_t& held(int chip, int item) { return held_[chip][item]; }
  int chips() const { return static_cast<int>(held_.size()); }
  int items() const { return static_cast<int>(held_.front().size()); }

  // How long it takes. A port passes one message after the other; hops of a path are one after the other.
  double run(const Steps& steps) {
    double seconds = 0;
    for (const Step& step : steps) seconds += run(step);
    return seconds;
  }

  double run(const Step& step) {
    double seconds = 0;
    std::size_t hops = 0;
    for (const Message& message : step) hops = std::max(hops, message.path.size() - 1);
    for (std::size_t hop = 0; hop < hops; ++hop) {
      std::map<Port, double> busy;
      for (const Message& message : step) {
        if (hop + 1 >= message.path.size()) continue;
        cross(message.path[hop], message.path[hop + 1], static_cast<double>(message.items.size()) * bytes_per_item_,
              busy);
      }
      double longest = 0;
      for (const auto& [port, time] : busy) longest = std::max(longest, time);
      seconds += longest;
    }
    const auto before = held_;
    for (const Message& message : step) {
      for (const int item : message.items) {
        const std::uint32_t sent = before[message.path.front()][item];
        std::uint32_t& there = held_[message.path.back()][item];
        if (sent == 0 || (message.adds && (there & sent) != 0)) wrong_ = true;  // nothing to send, or counted twice
        there = message.adds ? there | sent : sent;
      }
    }
    return seconds;
  }

  // Data that a chip did not have were sent, or one chip's were added twice.
  bool wrong() const { return wrong_; }
  double bytes(std::size_t level) { return bytes_[level]; }  // that crossed it; each link of a ring or torus
  std::set<std::tuple<int, int, int>> used;                  // links of rings and tori: from, to, direction

 private:
  using Port = std::tuple<int, int, int, bool>;  // chip, level, other unit or direction, out

  std::int64_t below(std::size_t level) const { return level == 0 ? 1 : fabric_.levels[level - 1].chips; }

  void cross(int from, int to, double bytes, std::map<Port, double>& busy) {
    std::size_t l = 0;
    while (from / fabric_.levels[l].chips != to / fabric_.levels[l].chips) ++l;
    const FabricLevel& level = fabric_.levels[l];
    bytes_[l] += bytes;
    const std::int64_t units = level.chips / below(l);
    const auto from_unit = static_cast<int>(from / below(l) % units), to_unit = static_cast<int>(to / below(l) % units);
    const int at = static_cast<int>(l);
    double width = level.bytes_per_s / level.oversubscription;
    int out = 0, in = 0;
    if (level.kind == FabricKind::full) {
      width /= static_cast<double>(units - 1);
      out = to_unit + 1;
      in = from_unit + 1;
    } else if (level.kind != FabricKind::switched) {
      std::vector<std::int64_t> sizes = level.sizes;
      if (level.kind == FabricKind::ring) sizes = {units};
      width /= static_cast<double>(2 * sizes.size());
      out = in = direction(sizes, from_unit, to_unit);
      if (out == 0) wrong_ = true;  // no neighbours
      used.insert({from, to, out});
    }
    const double time = level.latency_s + bytes / width;
    busy[{from, at, out, true}] += time;
    busy[{to, at, in, false}] += time;
  }

  // 1, 2: one dimension up, down; 3, 4: the next …; 0: no neighbours. Two links join the two of a dimension of size 2.
  int direction(const std::vector<std::int64_t>& sizes, int from, int to) {
    int found = 0;
    for (std::size_t d = 0; d < sizes.size(); ++d) {
      const auto size = static_cast<int>(sizes[sizes.size() - 1 - d]);
      const int a = from % size, b = to % size;
      from /= size;
      to /= size;
      if (a == b) continue;
      if (found != 0) return 0;
      const int base = 2 * static_cast<int>(d);
      if (size == 2) {
        found = base + 1 + static_cast<int>(parity_ = !parity_);
      } else if ((a + 1) % size == b) {
        found = base + 1;
      } else if ((b + 1) % size == a) {
        found = base + 2;
      } else {
        return 0;
      }
    }
    return found;
  }

  const Fabric& fabric_;
  std::vector<std::vector<std::uint32_t>> held_;
  double bytes_per_item_;
  bool wrong_ = false;
  bool parity_ = false;
  std::map<std::size_t, double> bytes_;
};

inline Steps then(Steps first, const Steps& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

// Side by side, step by step.
inline Steps beside(const std::vector<Steps>& all) {
  Steps result;
  for (const Steps& steps : all) {
    if (result.size() < steps.size()) result.resize(steps.size());
    for (std::size_t i = 0; i < steps.size(); ++i) result[i].insert(result[i].end(), steps[i].begin(), steps[i].end());
  }
  return result;
}

}  // namespace monet::simulated
