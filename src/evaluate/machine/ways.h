// Ways through a machine's links: from memory to memory, with the fewest links and among those the widest.
//
// Cores pass data on, memories do not. Nothing grows with the square of the number of cores: a bus is a place of its
// own that its ends lead to, and a search goes on from where the last question about the same end left it.
#pragma once

#include "hardware/hardware.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <queue>
#include <span>
#include <vector>

namespace monet {

// One way of a link; a bus has only one.
struct Hop {
  LinkId link;
  bool forward = true;
};

class Ways {
 public:
  Ways() = default;
  // `hubs`, by memory: many ways begin or end there. Without `with_buses`, no way leads over a bus.
  Ways(const Hardware& hardware, std::vector<bool> hubs, bool with_buses);

  // The links from `from` to `to`, another memory, in order; nothing: no way leads there. Equal arguments give equal
  // answers, whatever was asked before.
  std::optional<std::vector<Hop>> between(MemoryId from, MemoryId to);

  // The same way in short. No links and no way: infinitely slow.
  struct Reach {
    double latency_cycles = std::numeric_limits<double>::infinity();
    double bits_per_cycle = 0;  // of the narrowest link; infinite: there is none on the way
  };
  Reach reach(MemoryId from, MemoryId to);

 private:
  static constexpr std::uint32_t nowhere = 0xffffffffU;

  // A place is a core; after them memories; after those links that are buses.
  struct Step {
    std::uint32_t place;
    LinkId link;  // not valid: attached directly, or off a bus
    bool forward = true;
  };
  // To a place from the anchor, or from it to the anchor.
  struct Way {
    std::uint32_t links = nowhere;
    double width = 0;
    double latency_cycles = 0;
    std::uint32_t before = nowhere;  // the place next to it, nearer to the anchor
    Hop hop{};                       // from or to that one
    bool final = false;
    std::uint32_t round = 0;  // of the search that knows it
  };
  struct Open {
    std::uint32_t links;
    double width;
    std::uint32_t place;
    bool operator<(const Open& other) const {
      if (links != other.links) return links > other.links;
      if (width != other.width) return width < other.width;
      return place > other.place;
    }
  };
  struct Search {
    MemoryId anchor;
    std::uint32_t round = 0;  // what earlier ones have left is out of date
    std::vector<Way> ways;    // by place
    std::priority_queue<Open> open;
  };

  // Steps out of every place, or into it; but not to a memory that one core or bus alone leads to, since none of them
  // leads on: a machine of many cores has mostly such.
  struct Steps {
    std::vector<std::uint32_t> first;  // by place, and one more
    std::vector<Step> steps;
    std::vector<Step> last;  // by place: to such a memory, from the place named; nowhere: it is none
    std::span<const Step> at(std::uint32_t place) const {
      return std::span(steps).subspan(first[place], first[place + 1] - first[place]);
    }
  };

  std::uint32_t place_of(const End& end) const;
  // The search that knows the way, with `goal` the end of it that is not its anchor.
  Search& find(MemoryId from, MemoryId to, std::uint32_t& goal);
  void begin(Search& search, MemoryId anchor) const;
  // As a search that has just begun knows it.
  static Way& way_to(Search& search, std::uint32_t place);
  // Goes on until the way to `goal` is known, or there is none.
  void go_on(Search& search, const Steps& steps, std::uint32_t goal) const;
  void go_last(Search& search, const Step& last, std::uint32_t goal) const;

  const Hardware* hardware_ = nullptr;
  std::uint32_t cores_ = 0, memories_ = 0;
  Steps out_, into_;
  std::vector<bool> hubs_;
  std::array<Search, 3> searches_;  // from a hub, to a hub, to another memory: the last one of each
};

}  // namespace monet
