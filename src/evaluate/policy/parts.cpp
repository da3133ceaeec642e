#include "evaluate/policy/parts.h"

#include "base/checked.h"
#include "evaluate/plan/bind.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <queue>
#include <set>
#include <utility>

namespace monet {

namespace {

// Iterations of a part, by loop: nests may have loops of one name and different sizes.
using Extents = std::vector<std::int64_t>;

// One axis of an operand as the loops reach it: a box around it.
struct BoxAxis {
  std::vector<std::pair<std::size_t, std::int64_t>> terms;  // a loop, and how far one iteration goes
  std::int64_t divisor = 1, span = 1, size = 1;
  bool anywhere = false;

  double reach(const Extents& extents) const {
    if (anywhere) return static_cast<double>(size);
    std::int64_t steps = 0;
    for (const auto& [loop, factor] : terms) steps += factor * (extents[loop] - 1);
    return static_cast<double>(std::min(size, steps / divisor + span));
  }
};

// What an operator reads, makes or passes from nest to nest, by all its nests that touch it.
struct PartOperand {
  OperandKind kind = OperandKind::input;
  std::uint8_t number = 0;
  double element_bytes = 0;
  std::vector<std::vector<BoxAxis>> accesses;

  double bytes(const Extents& extents) const {
    double most = 0;
    for (const std::vector<BoxAxis>& axes : accesses) {
      double elements = 1;
      for (const BoxAxis& axis : axes) elements *= axis.reach(extents);
      most = std::max(most, elements);
    }
    return most * element_bytes;
  }

  bool follows(std::size_t loop) const {
    return std::ranges::any_of(accesses, [&](const std::vector<BoxAxis>& axes) {
      return std::ranges::any_of(axes, [&](const BoxAxis& axis) {
        return std::ranges::any_of(axis.terms,
                                   [&](const auto& term) { return term.first == loop && term.second != 0; });
      });
    });
  }
};

// A step along a filter says little of where a part's data lie: such loops are cut last.
bool is_of_filter(Dim loop) { return loop == Dim::FZ || loop == Dim::FY || loop == Dim::FX; }

class PartSearch {
 public:
  PartSearch(const Graph& graph, NodeId node, const TilingGraph& tiling, std::span<const StoredWidth> element_bits,
             double bytes, double latency_bytes)
      : limit_(bytes), latency_bytes_(latency_bytes) {
    const Node& of = graph[node];
    const OperatorNests nests = nests_of(site_of(graph, of));
    for (const Nest& nest : nests.nests) {
      for (const Access& access : nest.reads) add(graph, of, nests, nest, access, element_bits);
      for (const Access& access : nest.writes) add(graph, of, nests, nest, access, element_bits);
    }
    // As the axes of a grid come: those that add up last, the others as the result has them.
    const std::vector<LoopsAlong> written = tiling.written_along(node);
    for (const CuttableLoop& loop : tiling.cuttable(node)) {
      std::size_t place = loop.reduces ? 1000 : 500;
      if (!written.empty() && !loop.reduces) {
        const auto& loops = written.front().loops;
        place = static_cast<std::size_t>(std::ranges::find(loops, std::optional(loop.loop.name)) - loops.begin());
      }
      loops_.push_back({loop.loop.name, loop.loop.size, place, number_of(loop.loop), 0});
    }
    std::ranges::stable_sort(loops_, {}, &CutLoop::place);
    for (CutLoop& loop : loops_) {
      for (std::size_t o = 0; o < operands_.size(); ++o) {
        if (operands_[o].follows(loop.number)) loop.operands |= std::uint64_t{1} << o;
      }
    }
  }

  std::vector<LoopSize> run(std::span<const LoopSize> least) {
    State first;
    for (const CutLoop& loop : loops_) {
      const auto given = std::ranges::find(least, loop.name, &LoopSize::loop);
      first.pieces.push_back(given == least.end() ? 1 : std::min(given->size, loop.size));
    }
    const State plain = search(first, false);
    if (plain.need <= limit_) return pieces_of(plain);
    const State any = search(first, true);
    return pieces_of(any.need < plain.need ? any : plain);
  }

 private:
  struct CutLoop {
    Dim name;
    std::int64_t size;
    std::size_t place;
    std::size_t number;      // in all_
    std::uint64_t operands;  // that follow it, a bit each
  };
  struct State {
    std::vector<std::int64_t> pieces;  // by loop
    double moved = 0;
    double need = 0;
    bool operator<(const State& other) const {  // the first of a queue is the one that moves least
      return std::pair(other.moved, other.need) < std::pair(moved, need);
    }
  };

  std::size_t number_of(const Loop& loop) {
    const auto known = std::ranges::find(all_, loop);
    if (known != all_.end()) return static_cast<std::size_t>(known - all_.begin());
    all_.push_back(loop);
    return all_.size() - 1;
  }

  void add(const Graph& graph, const Node& node, const OperatorNests& nests, const Nest& nest, const Access& access,
           std::span<const StoredWidth> element_bits) {
    const auto known = std::ranges::find_if(operands_, [&](const PartOperand& operand) {
      return operand.kind == access.kind && operand.number == access.operand;
    });
    PartOperand& operand = known == operands_.end() ? operands_.emplace_back() : *known;
    operand.kind = access.kind;
    operand.number = access.operand;
    const Shape* shape = nullptr;
    if (access.kind == OperandKind::scratch) {
      shape = &nests.scratch[access.operand].shape;
      operand.element_bytes = static_cast<double>(bits_of(nests.scratch[access.operand].format.element)) / 8;
    } else {
      const TensorId tensor = (access.kind == OperandKind::input ? node.inputs : node.outputs)[access.operand];
      shape = &graph[tensor].type.shape;
      const StoredWidth& width = element_bits[tensor.index()];
      operand.element_bytes = static_cast<double>(width.bits) / (8.0 * static_cast<double>(width.elements));
    }
    std::vector<BoxAxis>& axes = operand.accesses.emplace_back();
    for (std::size_t i = 0; i < access.axes.size(); ++i) {
      const AxisIndex& index = access.axes[i];
      BoxAxis axis{.terms = {}, .divisor = index.divisor, .span = index.span, .size = (*shape)[i]};
      axis.anywhere = index.anywhere;
      for (const Term& term : index.terms) {
        axis.terms.emplace_back(number_of(nest.loops[term.loop]), std::abs(term.factor));
      }
      axes.push_back(std::move(axis));
    }
  }

  void estimate(State& state) const {
    Extents extents;
    for (const Loop& loop : all_) extents.push_back(loop.size);
    std::vector<double> outside;  // parts so far, by loop
    double parts = 1;
    for (std::size_t i = 0; i < loops_.size(); ++i) {
      extents[loops_[i].number] = ceil_divide(loops_[i].size, state.pieces[i]);
      parts *= static_cast<double>(state.pieces[i]);
      outside.push_back(parts);
    }
    state.moved = state.need = 0;
    for (std::size_t o = 0; o < operands_.size(); ++o) {
      const double bytes = operands_[o].bytes(extents);
      state.need += bytes;
      if (operands_[o].kind == OperandKind::scratch) continue;
      double times = 1;
      for (std::size_t i = 0; i < loops_.size(); ++i) {
        if (state.pieces[i] > 1 && (loops_[i].operands >> o & 1U) != 0) times = outside[i];
      }
      state.moved += times * (bytes + latency_bytes_);
    }
  }

  // What moves least of all that fits; else what needs least of all that was looked at.
  State search(const State& first, bool filters) const {
    constexpr std::size_t most = 3000;
    std::priority_queue<State> open;
    std::set<std::vector<std::int64_t>> seen;
    State begin = first;
    estimate(begin);
    State smallest = begin;
    open.push(begin);
    seen.insert(begin.pieces);
    for (std::size_t looked = 0; !open.empty() && looked < most; ++looked) {
      const State at = open.top();
      open.pop();
      if (at.need < smallest.need) smallest = at;
      if (at.need <= limit_) return at;
      for (std::size_t i = 0; i < loops_.size(); ++i) {
        if (at.pieces[i] >= loops_[i].size || (!filters && is_of_filter(loops_[i].name))) continue;
        State next = at;
        next.pieces[i] = std::min(2 * next.pieces[i], loops_[i].size);
        double count = 1;
        for (const std::int64_t pieces : next.pieces) count *= static_cast<double>(pieces);
        if (count > static_cast<double>(max_pieces) || !seen.insert(next.pieces).second) continue;
        estimate(next);
        if (next.need < at.need) open.push(std::move(next));
      }
    }
    return descend(smallest, filters);
  }

  // From there on, what makes the part smallest.
  State descend(State at, bool filters) const {
    for (bool smaller = true; smaller && at.need > limit_;) {
      smaller = false;
      State best = at;
      for (std::size_t i = 0; i < loops_.size(); ++i) {
        if (at.pieces[i] >= loops_[i].size || (!filters && is_of_filter(loops_[i].name))) continue;
        State next = at;
        next.pieces[i] = std::min(2 * next.pieces[i], loops_[i].size);
        double count = 1;
        for (const std::int64_t pieces : next.pieces) count *= static_cast<double>(pieces);
        if (count > static_cast<double>(max_pieces)) continue;
        estimate(next);
        if (next.need < best.need) best = next;
      }
      smaller = best.need < at.need;
      at = std::move(best);
    }
    return at;
  }

  std::vector<LoopSize> pieces_of(const State& state) const {
    std::vector<LoopSize> pieces;
    for (std::size_t i = 0; i < loops_.size(); ++i) {
      if (state.pieces[i] > 1) pieces.push_back({loops_[i].name, state.pieces[i]});
    }
    return pieces;
  }

  const double limit_, latency_bytes_;
  std::vector<Loop> all_;  // of all nests
  std::vector<PartOperand> operands_;
  std::vector<CutLoop> loops_;
};

}  // namespace

std::vector<LoopSize> StoredParts::cut(NodeId node, double bytes, double latency_bytes,
                                       std::span<const LoopSize> least) const {
  return PartSearch(graph_, node, tiling_, element_bits_, bytes, latency_bytes).run(least);
}

std::vector<LoopSize> StoredParts::cut_after(NodeId node, NodeId maker, std::span<const LoopSize> pieces, double bytes,
                                             double latency_bytes) const {
  std::vector<LoopSize> least;
  for (const LoopsAlong& made : tiling_.written_along(maker)) {
    for (const LoopsAlong& read : tiling_.read_along(node)) {
      if (read.tensor != made.tensor) continue;
      for (std::size_t axis = 0; axis < read.loops.size(); ++axis) {
        const auto cut = std::ranges::find_if(
            pieces, [&](const LoopSize& piece) { return made.loops[axis] == std::optional(piece.loop); });
        if (cut != pieces.end() && read.loops[axis]) least.push_back({*read.loops[axis], cut->size});
      }
    }
  }
  return cut(node, bytes, latency_bytes, least);
}

}  // namespace monet
