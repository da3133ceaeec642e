#include "evaluate/tiles/cuttable.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

namespace monet {

namespace tiling {

namespace {

// An access together with its nest; every one of a tensor that tiles write or that passes between nests.
struct Use {
  const Nest* nest;
  const Access* access;
  bool written;
};

// Uses of one output or scratch tensor.
struct Passed {
  OperandKind kind;
  std::uint8_t operand;
  std::vector<Use> uses;
};

std::vector<Passed> passed_between(const OperatorNests& nests) {
  std::vector<Passed> result;
  const auto add = [&](const Nest& nest, const Access& access, bool written) {
    if (access.kind == OperandKind::input) return;
    auto found = std::ranges::find_if(
        result, [&](const Passed& p) { return p.kind == access.kind && p.operand == access.operand; });
    if (found == result.end()) {
      result.push_back({access.kind, access.operand, {}});
      found = result.end() - 1;
    }
    found->uses.push_back({&nest, &access, written});
  };
  for (const Nest& nest : nests.nests) {
    for (const Access& access : nest.reads) add(nest, access, false);
    for (const Access& access : nest.writes) add(nest, access, true);
  }
  return result;
}

std::optional<std::size_t> find_loop(const Nest& nest, const Loop& loop) {
  const auto found = std::ranges::find(nest.loops, loop);
  if (found == nest.loops.end()) return std::nullopt;
  return static_cast<std::size_t>(found - nest.loops.begin());
}

bool mentions(const AxisIndex& index, std::size_t loop) {
  return std::ranges::any_of(index.terms, [&](const Term& term) { return term.loop == loop && term.factor != 0; });
}

// The block of the axis that belongs to each iteration, when iterations have blocks of their own: whatever the other
// loops add stays within one step of this one.
std::optional<WrittenAxis> block_of(const Nest& nest, const AxisIndex& index, std::size_t loop) {
  if (index.divisor != 1 || index.anywhere) return std::nullopt;
  WrittenAxis axis{.loop = 0, .scale = 0, .offset = index.offset};
  std::int64_t reach = index.span;
  for (const Term& term : index.terms) {
    if (term.loop == loop) {
      axis.scale += term.factor;
    } else if (nest.loops[term.loop].size > 1) {
      if (term.factor < 0) return std::nullopt;
      reach += term.factor * (nest.loops[term.loop].size - 1);
    }
  }
  // The first block lies before the axis: nothing is written there.
  if (axis.offset + axis.scale <= 0) return std::nullopt;
  return axis.scale >= reach ? std::optional(axis) : std::nullopt;
}

struct Followed {
  std::size_t axis;
  WrittenAxis block;
};

// How one access follows a loop: along one axis, in blocks. Nothing: not at all, or not so.
std::optional<Followed> follows(const Use& use, std::size_t loop) {
  std::optional<Followed> result;
  for (std::size_t i = 0; i < use.access->axes.size(); ++i) {
    if (!mentions(use.access->axes[i], loop)) continue;
    const auto block = block_of(*use.nest, use.access->axes[i], loop);
    if (!block || result) return std::nullopt;
    result = Followed{i, *block};
  }
  return result;
}

bool adds_up(const Use& use, std::size_t loop) {
  return use.written && use.access->accumulate && std::ranges::none_of(use.access->axes, [&](const AxisIndex& index) {
           return index.anywhere || mentions(index, loop);
         });
}

// What cutting along a loop does to a tensor.
struct Effect {
  bool possible = false;
  std::optional<Followed> followed;  // none: tiles add up
};

// A nest without the loop that every tile does for itself: it makes nothing but scratch, adds nothing up, or is a
// point.
bool is_repeated(const Nest& nest, const Loop& loop) {
  const bool point = std::ranges::all_of(nest.loops, [](const Loop& l) { return l.size == 1; });
  // A loop of that name and another size is another loop.
  const auto same = std::ranges::find(nest.loops, loop.name, &Loop::name);
  if (same != nest.loops.end() && (!point || same->size == loop.size)) return false;
  return point || nest.proportional || std::ranges::all_of(nest.writes, [](const Access& access) {
           return access.kind == OperandKind::scratch && !access.accumulate;
         });
}

// One nest adds up over the loop, and what others make of the sum is proportional to it.
bool is_sum_over(const Passed& passed, const Loop& loop) {
  if (passed.kind != OperandKind::output) return false;
  std::size_t sums = 0;
  for (const Use& use : passed.uses) {
    const auto number = find_loop(*use.nest, loop);
    if (!number && use.nest->proportional && is_repeated(*use.nest, loop)) continue;
    if (!number || !adds_up(use, *number)) return false;
    ++sums;
  }
  return sums == 1;
}

Effect effect_on(const Passed& passed, const Loop& loop) {
  const bool every_tile_has_it =
      passed.kind == OperandKind::scratch &&
      std::ranges::all_of(passed.uses, [&](const Use& use) { return !use.written || is_repeated(*use.nest, loop); });
  if (every_tile_has_it || is_sum_over(passed, loop)) return {.possible = true, .followed = {}};
  std::optional<Followed> common;
  for (const Use& use : passed.uses) {
    const auto number = find_loop(*use.nest, loop);
    if (!number) return {};
    const auto found = follows(use, *number);
    if (!found) return {};
    const bool same = !common || (common->axis == found->axis && common->block.scale == found->block.scale &&
                                  common->block.offset == found->block.offset);
    if (!same) return {};
    common = found;
  }
  return {.possible = true, .followed = common};
}

// What is kept of the place is less than what a further tile would need.
bool keeps_only_place(Op op) { return op == Op::ArgMax || op == Op::ArgMin; }

// Of all nests, the first that has it first.
std::vector<Loop> candidates(const OperatorNests& nests) {
  std::vector<Loop> loops;
  for (const Nest& nest : nests.nests) {
    for (const Loop& loop : nest.loops) {
      if (std::ranges::find(loops, loop) == loops.end()) loops.push_back(loop);
    }
  }
  return loops;
}

// Adds the loop to `result` if it can be cut. `passed` begins with the outputs, in the order of result.outputs.
void try_loop(const Loop& loop, Op op, const std::vector<Passed>& passed, Cuttable& result) {
  std::vector<Effect> effects;
  for (const Passed& tensor : passed) {
    effects.push_back(effect_on(tensor, loop));
    if (!effects.back().possible) return;
  }
  // Tiles either share all that they write or have parts of their own: a loss that is summed has rows beside it.
  const auto own = std::ranges::count_if(std::span(effects).first(result.outputs.size()),
                                         [](const Effect& effect) { return effect.followed.has_value(); });
  if (own != 0 && std::cmp_not_equal(own, result.outputs.size())) return;
  CuttableLoop cuttable{.loop = loop, .reduces = true};
  for (std::size_t i = 0; i < result.outputs.size(); ++i) {
    if (!effects[i].followed) continue;
    cuttable.reduces = false;
    if (result.outputs[i].axes[effects[i].followed->axis].loop != no_loop) return;
  }
  if (cuttable.reduces && keeps_only_place(op)) return;
  const auto number = static_cast<std::uint8_t>(result.loops.size());
  for (std::size_t i = 0; i < result.outputs.size(); ++i) {
    if (!effects[i].followed) continue;
    WrittenAxis& axis = result.outputs[i].axes[effects[i].followed->axis];
    axis = effects[i].followed->block;
    axis.loop = number;
    result.outputs[i].follows |= std::uint32_t{1} << number;
  }
  result.loops.push_back(cuttable);
}

}  // namespace

Cuttable cuttable_of(const Graph& graph, const Node& node, const OperatorNests& nests) {
  Cuttable result;
  std::vector<Passed> passed = passed_between(nests);
  std::ranges::sort(passed, {}, [](const Passed& p) { return std::pair(p.kind != OperandKind::output, p.operand); });
  for (const Passed& tensor : passed) {
    if (tensor.kind != OperandKind::output) break;
    const std::size_t rank = graph[node.outputs[tensor.operand]].type.shape.size();
    result.outputs.push_back({.output = tensor.operand, .axes = std::vector<WrittenAxis>(rank)});
  }
  const auto wanted = std::ranges::count_if(node.outputs, [](TensorId id) { return id.valid(); });
  if (result.outputs.empty() || std::cmp_not_equal(wanted, result.outputs.size())) return result;
  for (const Loop& loop : candidates(nests)) {
    const bool everywhere = std::ranges::all_of(
        nests.nests, [&](const Nest& nest) { return find_loop(nest, loop) || is_repeated(nest, loop); });
    if (loop.size > 1 && everywhere && result.loops.size() < max_cuttable) try_loop(loop, node.op, passed, result);
  }
  return result;
}

}  // namespace tiling

std::vector<CuttableLoop> cuttable_loops(const Graph& graph, NodeId node) {
  return tiling::cuttable_of(graph, graph[node], nests_of(site_of(graph, graph[node]))).loops;
}

}  // namespace monet
