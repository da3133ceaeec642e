#include "optimize/fusion/rings.h"

#include <algorithm>
#include <limits>

namespace monet::fusion {

namespace {

struct Edge {
  std::uint32_t to = 0;
  Index out = 0, in = 0;
};

class Finding {
 public:
  Finding(const Problem& problem, std::span<const std::uint32_t> set_of, std::size_t sets)
      : edges_(sets), waiting_(sets, 0), from_(sets), stamp_(sets, Problem::none) {
    for (Index op = 0; op < problem.size(); ++op) {
      for (Index next : problem.after[op]) {
        if (set_of[op] != set_of[next]) edges_[set_of[op]].push_back({set_of[next], op, next});
      }
    }
  }

  std::vector<Ring> run() {
    find_stuck();
    std::vector<Ring> rings;
    std::vector<std::uint8_t> used(edges_.size(), 0);
    for (std::uint32_t s = 0; s < edges_.size(); ++s) {
      if (waiting_[s] == 0 || used[s] != 0) continue;
      Ring ring = shortest_through(s);
      if (ring.empty() || std::ranges::any_of(ring, [&](const RingStep& step) { return used[step.set] != 0; }))
        continue;
      for (const RingStep& step : ring) used[step.set] = 1;
      rings.push_back(std::move(ring));
    }
    return rings;
  }

 private:
  // Leaves `waiting_` above 0 for sets that are on a ring or behind one.
  void find_stuck() {
    for (const auto& list : edges_) {
      for (const Edge& edge : list) ++waiting_[edge.to];
    }
    std::vector<std::uint32_t> ready;
    for (std::uint32_t s = 0; s < edges_.size(); ++s) {
      if (waiting_[s] == 0) ready.push_back(s);
    }
    while (!ready.empty()) {
      const std::uint32_t s = ready.back();
      ready.pop_back();
      for (const Edge& edge : edges_[s]) {
        if (--waiting_[edge.to] == 0) ready.push_back(edge.to);
      }
    }
  }

  Ring shortest_through(std::uint32_t start) {
    std::vector<std::uint32_t> queue{start};
    stamp_[start] = start;
    for (std::size_t head = 0; head < queue.size(); ++head) {
      const std::uint32_t s = queue[head];
      for (const Edge& edge : edges_[s]) {
        if (edge.to == start) return ring_of(start, s, edge);
        if (waiting_[edge.to] == 0 || stamp_[edge.to] == start) continue;
        stamp_[edge.to] = start;
        from_[edge.to] = {s, edge.out, edge.in};
        queue.push_back(edge.to);
      }
    }
    return {};
  }

  Ring ring_of(std::uint32_t start, std::uint32_t last, const Edge& closing) const {
    Ring ring;
    Index out = closing.out;
    for (std::uint32_t s = last; s != start; s = from_[s].to) {
      ring.push_back({s, from_[s].in, out});
      out = from_[s].out;
    }
    ring.push_back({start, closing.in, out});
    return ring;
  }

  std::vector<std::vector<Edge>> edges_;
  std::vector<std::uint32_t> waiting_;
  std::vector<Edge> from_;  // `to` is the set before it
  std::vector<std::uint32_t> stamp_;
};

}  // namespace

std::vector<Ring> rings_among(const Problem& problem, std::span<const std::uint32_t> set_of, std::size_t sets) {
  return Finding(problem, set_of, sets).run();
}

}  // namespace monet::fusion
