#include "evaluate/policy/light.h"

#include "base/checked.h"
#include "evaluate/plan/bind.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace monet {

namespace {

// More pieces are more transfers and hardly faster: with 16, 32, 64, 256 nine networks on seven machines
// take 2.70, 2.63, 2.56, 2.56 times their bounds in the mean.
constexpr std::int64_t most_pieces = 64;

std::int64_t size_of(const TilingGraph& tiling, NodeId node, Dim name) {
  for (const CuttableLoop& loop : tiling.cuttable(node)) {
    if (loop.loop.name == name && !loop.reduces) return loop.loop.size;
  }
  return 0;
}

class PieceFinder {
 public:
  PieceFinder(const TilingGraph& tiling, const RoutedMachine& machine, TileCosts& costs, NodeId node,
              std::uint32_t kind)
      : tiling_(tiling), machine_(machine), costs_(costs), node_(node), kind_(kind) {}

  std::vector<LoopSize> run(std::vector<LoopSize> pieces) {
    if (!is_worth_it() || fits(pieces)) return pieces;
    const std::vector<LoopSize> before = pieces;
    std::int64_t left = max_pieces;
    for (const LoopSize& piece : pieces) left /= piece.size;
    left = std::min(left, most_pieces);
    while (!fits(pieces)) {
      if (!cut_further(pieces, left)) return before;
    }
    return pieces;
  }

 private:
  const CorePlaces& core() const { return machine_[machine_.first_of_kind(kind_)]; }

  bool is_worth_it() const {
    for (MemoryId local : core().local) {
      if (!local.valid() || machine_.is_shared(local)) return false;
    }
    const double width = machine_.home_bits_per_cycle(machine_.first_of_kind(kind_));
    if (width <= 0) return false;
    const TileEstimate& whole = costs_.estimate(node_, kind_, {});
    double bits = 0;
    for (double of_path : whole.bits) bits += of_path;
    const auto cores = static_cast<double>(machine_.cores_of_kind(kind_).size());
    return bits / width >= whole.cycles / cores;
  }

  bool fits(const std::vector<LoopSize>& pieces) const {
    std::vector<LoopSize> extents;
    for (const LoopSize& piece : pieces) {
      extents.push_back({piece.loop, ceil_divide(size_of(tiling_, node_, piece.loop), piece.size)});
    }
    const TileEstimate estimate = costs_.estimate(node_, kind_, extents);
    for (std::size_t p = 0; p < path_count; ++p) {
      const double bytes = bytes_beside(core(), estimate, p);
      if (2 * bytes > static_cast<double>(machine_.capacity_bytes(core().local[p]))) return false;
    }
    return true;
  }

  // Twice as many pieces of the first loop that can be cut, as long as there are no more than `left` times as many.
  bool cut_further(std::vector<LoopSize>& pieces, std::int64_t& left) const {
    constexpr Dim order[] = {Dim::K, Dim::G, Dim::B, Dim::H, Dim::OZ, Dim::OY, Dim::D, Dim::OX, Dim::C};
    const auto rank = [&](const CuttableLoop& loop) { return std::ranges::find(order, loop.loop.name); };
    const CuttableLoop* best = nullptr;
    for (const CuttableLoop& loop : tiling_.cuttable(node_)) {
      const auto known = std::ranges::find(pieces, loop.loop.name, &LoopSize::loop);
      if (loop.reduces || loop.loop.size <= (known == pieces.end() ? 1 : known->size)) continue;
      if (best == nullptr || rank(loop) < rank(*best)) best = &loop;
    }
    if (best == nullptr || left < 2) return false;
    left /= 2;
    const auto known = std::ranges::find(pieces, best->loop.name, &LoopSize::loop);
    if (known == pieces.end()) {
      pieces.push_back({best->loop.name, 2});
    } else {
      known->size = std::min(2 * known->size, best->loop.size);
    }
    return true;
  }

  const TilingGraph& tiling_;
  const RoutedMachine& machine_;
  TileCosts& costs_;
  NodeId node_;
  std::uint32_t kind_;
};

class LightStacks {
 public:
  LightStacks(const Graph& graph, const Dependencies& dependencies, const TilingGraph& tiling,
              const RoutedMachine& machine, std::vector<OperatorAssignment>& operators)
      : graph_(graph),
        dependencies_(dependencies),
        tiling_(tiling),
        machine_(machine),
        operators_(operators),
        stack_of_(operators.size(), none) {}

  void add(NodeId node) {
    std::size_t stack = none;
    for (NodeId maker : dependencies_.before(node)) {
      if (stack == none && can_join(node, maker)) stack = stack_of_[maker.index()];
    }
    if (stack == none) {
      stack = stacks_.size();
      stacks_.emplace_back();
    }
    stacks_[stack].push_back(node);
    stack_of_[node.index()] = stack;
  }

  std::vector<std::vector<NodeId>> take() {
    std::erase_if(stacks_, [](const std::vector<NodeId>& stack) { return stack.size() == 1; });
    return std::move(stacks_);
  }

 private:
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  bool can_join(NodeId node, NodeId maker) {
    const std::size_t stack = stack_of_[maker.index()];
    if (stack == none) return false;
    const std::vector<NodeId>& nodes = stacks_[stack];
    // What is recomputed for the backward part must not be there from the forward part on.
    const auto is_forward = [&](NodeId one) { return graph_[one].phase == Phase::forward; };
    if (is_forward(node) != is_forward(nodes.front())) return false;
    // Nothing outside lies between: whatever else it reads is made before the first of the stack.
    const bool closed = std::ranges::all_of(dependencies_.before(node), [&](NodeId other) {
      return stack_of_[other.index()] == stack || other < nodes.front();
    });
    return closed && cut_alike(node, maker, nodes);
  }

  bool cut_alike(NodeId node, NodeId maker, const std::vector<NodeId>& nodes) {
    OperatorAssignment& mine = operators_[node.index()];
    OperatorAssignment& its = operators_[maker.index()];
    const std::uint32_t kind = machine_[mine.cores.front()].kind;
    if (machine_[its.cores.front()].kind != kind) return false;
    // Pieces that all run at the same time are not there one after the other.
    if (std::max(mine.cores.size(), its.cores.size()) <= machine_.cores_of_kind(kind).size()) return false;
    if (mine.cores.size() > its.cores.size()) {
      if (!std::ranges::all_of(nodes, [&](NodeId other) { return can_be_cut(other, node); })) return false;
      for (NodeId other : nodes) copy_cuts(node, other);
    } else {
      if (!can_be_cut(node, maker)) return false;
      copy_cuts(maker, node);
    }
    return true;
  }

  bool can_be_cut(NodeId node, NodeId like) const {
    return std::ranges::all_of(operators_[like.index()].cuts, [&](const LoopCut& cut) {
      return size_of(tiling_, node, cut.loop) == size_of(tiling_, like, cut.loop);
    });
  }

  void copy_cuts(NodeId from, NodeId to) {
    if (from == to) return;
    operators_[to.index()].cuts = operators_[from.index()].cuts;
    operators_[to.index()].cores = operators_[from.index()].cores;
  }

  const Graph& graph_;
  const Dependencies& dependencies_;
  const TilingGraph& tiling_;
  const RoutedMachine& machine_;
  std::vector<OperatorAssignment>& operators_;
  std::vector<std::size_t> stack_of_;
  std::vector<std::vector<NodeId>> stacks_;
};

}  // namespace

bool is_light(const Graph& graph, NodeId node) {
  switch (family_of(graph[node].op)) {
    case OpFamily::elementwise:
    case OpFamily::pool:
    case OpFamily::reduction:
    case OpFamily::softmax:
    case OpFamily::norm:
    case OpFamily::movement: return true;
    default: return false;
  }
}

double bytes_beside(const CorePlaces& core, const TileEstimate& tile, std::size_t path) {
  double bytes = 0;
  for (std::size_t other = 0; other < path_count; ++other) {
    if (core.local[other] == core.local[path]) bytes += tile.bits[other] / 8;
  }
  return bytes;
}

std::vector<LoopSize> pieces_that_fit(const TilingGraph& tiling, const RoutedMachine& machine, TileCosts& costs,
                                      NodeId node, std::uint32_t kind, std::vector<LoopSize> pieces) {
  return PieceFinder(tiling, machine, costs, node, kind).run(std::move(pieces));
}

std::vector<std::vector<NodeId>> join_light(const Graph& graph, const Dependencies& dependencies,
                                            const TilingGraph& tiling, const RoutedMachine& machine,
                                            const std::vector<bool>& is_free,
                                            std::vector<OperatorAssignment>& operators) {
  LightStacks stacks(graph, dependencies, tiling, machine, operators);
  for (std::size_t n = 0; n < operators.size(); ++n) {
    if (is_free[n] && is_light(graph, NodeId(n))) stacks.add(NodeId(n));
  }
  return stacks.take();
}

}  // namespace monet
