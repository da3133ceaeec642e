#include "evaluate/policy/light.h"

#include "base/checked.h"
#include "evaluate/plan/bind.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace monet {

namespace {

// Of what takes more, pieces of home memory are read as they are: transfers would take longer than they save.
constexpr std::int64_t most_pieces = 2048;

const CuttableLoop* loop_named(const TilingGraph& tiling, NodeId node, Dim name) {
  for (const CuttableLoop& loop : tiling.cuttable(node)) {
    if (loop.loop.name == name) return &loop;
  }
  return nullptr;
}

std::int64_t size_of(const TilingGraph& tiling, NodeId node, Dim name) {
  const CuttableLoop* loop = loop_named(tiling, node, name);
  return loop == nullptr ? 0 : loop->loop.size;
}

class LightStacks {
 public:
  LightStacks(const Graph& graph, const Dependencies& dependencies, const TilingGraph& tiling,
              const RoutedMachine& machine, CoreShare share, std::vector<OperatorAssignment>& operators)
      : graph_(graph),
        dependencies_(dependencies),
        tiling_(tiling),
        machine_(machine),
        share_(share),
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
    return closed && !is_cut_sum(maker) && cut_alike(node, maker, nodes);
  }

  // It is there only when all of its pieces have run.
  bool is_cut_sum(NodeId node) const {
    return std::ranges::any_of(operators_[node.index()].cuts, [&](const LoopCut& cut) {
      const CuttableLoop* loop = loop_named(tiling_, node, cut.loop);
      return loop != nullptr && loop->reduces;
    });
  }

  bool cut_alike(NodeId node, NodeId maker, const std::vector<NodeId>& nodes) {
    OperatorAssignment& mine = operators_[node.index()];
    OperatorAssignment& its = operators_[maker.index()];
    const std::uint32_t kind = machine_[mine.cores.front()].kind;
    if (machine_[its.cores.front()].kind != kind) return false;
    // Pieces that all run at the same time are not there one after the other.
    if (std::max(mine.cores.size(), its.cores.size()) <= share_.of_kind(machine_, kind).size()) return false;
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
  const CoreShare share_;
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
    case OpFamily::optimizer:
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

LightPieces::LightPieces(const Graph& graph, const Dependencies& dependencies, const TilingGraph& tiling,
                         const RoutedMachine& machine, CoreShare share, TileCosts& costs, const std::vector<bool>& sums)
    : graph_(graph),
      tiling_(tiling),
      machine_(machine),
      share_(share),
      costs_(costs),
      buffers_(graph, tiling),
      own_(graph.nodes().size()) {
  find_shared_loops(dependencies, sums);
}

void LightPieces::find_shared_loops(const Dependencies& dependencies, const std::vector<bool>& sums) {
  for (std::size_t n = 0; n < own_.size(); ++n) {
    if (!is_light(graph_, NodeId(n))) continue;
    for (const CuttableLoop& loop : tiling_.cuttable(NodeId(n))) {
      if (!loop.reduces || sums[n]) own_[n].set(static_cast<std::size_t>(loop.loop.name));
    }
  }
  shared_ = own_;
  const auto is_forward = [&](NodeId node) { return graph_[node].phase == Phase::forward; };
  for (std::size_t n = own_.size(); n-- > 0;) {
    const NodeId reader(n);
    if (own_[n].none() || graph_[reader].phase == Phase::optimizer) continue;
    for (NodeId maker : dependencies.before(reader)) {
      if (own_[maker.index()].none() || is_forward(maker) != is_forward(reader)) continue;
      LoopSet common;
      for (const CuttableLoop& loop : tiling_.cuttable(maker)) {
        const auto name = static_cast<std::size_t>(loop.loop.name);
        // A sum is there only at its end.
        common[name] = own_[maker.index()][name] && !loop.reduces && shared_[n][name] &&
                       size_of(tiling_, reader, loop.loop.name) == loop.loop.size;
      }
      // Of two readers that want different ones the first has its way.
      LoopSet& loops = shared_[maker.index()];
      if (common.any()) loops = (common & loops).any() ? common & loops : common;
    }
  }
}

std::vector<LoopSize> LightPieces::cut(NodeId node, std::uint32_t kind, std::vector<LoopSize> pieces) {
  if (!is_worth_it(node, kind) || fits(node, kind, pieces)) return pieces;
  std::int64_t most = max_pieces;
  for (const LoopSize& piece : pieces) most /= piece.size;
  most = std::min(most, most_pieces);
  const BufferCuts::Meetings meetings = buffers_.meetings(node);
  for (const LoopSet& loops : {shared_[node.index()], own_[node.index()]}) {
    std::vector<LoopSize> further = pieces;
    std::int64_t left = most;
    while (left >= 2 && cut_further(node, loops, meetings, further)) {
      if (fits(node, kind, further)) return further;
      left /= 2;
    }
  }
  return pieces;
}

bool LightPieces::is_worth_it(NodeId node, std::uint32_t kind) {
  for (MemoryId local : core(kind).local) {
    if (!local.valid() || machine_.is_shared(local)) return false;
  }
  const double width = machine_.home_bits_per_cycle(machine_.first_of_kind(kind));
  if (width <= 0) return false;
  const TileEstimate& whole = costs_.estimate(node, kind, {});
  double bits = 0;
  for (double of_path : whole.bits) bits += of_path;
  const auto cores = static_cast<double>(share_.of_kind(machine_, kind).size());
  return bits / width >= whole.cycles / cores;
}

bool LightPieces::fits(NodeId node, std::uint32_t kind, std::span<const LoopSize> pieces) {
  std::vector<LoopSize> extents;
  for (const LoopSize& piece : pieces) {
    extents.push_back({piece.loop, ceil_divide(size_of(tiling_, node, piece.loop), piece.size)});
  }
  const TileEstimate estimate = costs_.estimate(node, kind, extents);
  for (std::size_t p = 0; p < path_count; ++p) {
    const double bytes = bytes_beside(core(kind), estimate, p);
    if (2 * bytes > static_cast<double>(machine_.capacity_bytes(core(kind).local[p]))) return false;
  }
  return true;
}

// Twice as many pieces of the loop along which they meet the fewest buffers.
bool LightPieces::cut_further(NodeId node, const LoopSet& loops, const BufferCuts::Meetings& meetings,
                              std::vector<LoopSize>& pieces) const {
  // Where several are as good: norms of channels can be cut no other way.
  constexpr Dim order[] = {Dim::K, Dim::G, Dim::B, Dim::H, Dim::OZ, Dim::OY, Dim::D, Dim::OX, Dim::C};
  std::vector<LoopSize> best;
  std::pair<std::int64_t, std::ptrdiff_t> best_score;
  for (const CuttableLoop& loop : tiling_.cuttable(node)) {
    if (!loops[static_cast<std::size_t>(loop.loop.name)]) continue;
    std::vector<LoopSize> further = pieces;
    auto known = std::ranges::find(further, loop.loop.name, &LoopSize::loop);
    if (known == further.end()) known = further.insert(known, {loop.loop.name, 1});
    if (loop.loop.size <= known->size) continue;
    known->size = std::min(2 * known->size, loop.loop.size);
    const std::pair score(meetings(further), std::ranges::find(order, loop.loop.name) - std::begin(order));
    if (!best.empty() && score >= best_score) continue;
    best = std::move(further);
    best_score = score;
  }
  if (best.empty()) return false;
  pieces = std::move(best);
  return true;
}

std::vector<std::vector<NodeId>> join_light(const Graph& graph, const Dependencies& dependencies,
                                            const TilingGraph& tiling, const RoutedMachine& machine, CoreShare share,
                                            const std::vector<bool>& is_free,
                                            std::vector<OperatorAssignment>& operators) {
  LightStacks stacks(graph, dependencies, tiling, machine, share, operators);
  for (std::size_t n = 0; n < operators.size(); ++n) {
    if (is_free[n] && is_light(graph, NodeId(n))) stacks.add(NodeId(n));
  }
  return stacks.take();
}

}  // namespace monet
