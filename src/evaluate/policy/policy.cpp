#include "evaluate/policy/policy.h"

#include "base/checked.h"
#include "base/try.h"
#include "evaluate/plan/frugal_order.h"
#include "evaluate/plan/stack_order.h"
#include "evaluate/policy/light.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>

namespace monet {

namespace {

// Loops along which neighbouring operators share data come first where several are as good.
int preference(Dim loop) {
  switch (loop) {
    case Dim::B: return 0;
    case Dim::H: return 1;
    case Dim::OY: return 2;
    case Dim::D: return 3;
    case Dim::OX: return 4;
    case Dim::K: return 6;
    default: return 5;
  }
}

// The estimate knows nothing of waiting: what is chosen against the usual must be better by so much.
constexpr double clear_margin = 1.5;

// So many pieces that the largest is no larger than with `pieces` of them.
std::int64_t needed_pieces(std::int64_t size, std::int64_t pieces) {
  return ceil_divide(size, ceil_divide(size, std::min(size, pieces)));
}

std::int64_t product_of(std::span<const LoopSize> pieces) {
  std::int64_t product = 1;
  for (const LoopSize& piece : pieces) product *= piece.size;
  return product;
}

// More pieces of a loop, beside what the plan says of its tiles. Pieces come before loops that are only tiled.
void split_along(std::vector<LoopCut>& cuts, const LoopSize& piece) {
  LoopCut cut{piece.loop, piece.size, 0};
  const auto known = std::ranges::find(cuts, piece.loop, &LoopCut::loop);
  if (known != cuts.end()) {
    cut.tile = known->tile;
    cuts.erase(known);
  }
  const auto tiled = std::ranges::find_if(cuts, [](const LoopCut& c) { return c.pieces == 1; });
  cuts.insert(tiled, cut);
}

// Cores of one type have one reason.
std::string by_type(std::string reason, const Core& core) {
  if (const std::size_t at = reason.find(core.name); at != std::string::npos) {
    reason.replace(at, core.name.size(), core.type);
  }
  return reason;
}

std::string listed(const std::vector<std::string>& reasons) {
  constexpr std::size_t most = 3;
  std::string text;
  for (std::size_t i = 0; i < std::min(most, reasons.size()); ++i) text += (i == 0 ? "" : "; ") + reasons[i];
  if (reasons.size() > most) text += fmt::format("; and {} more", reasons.size() - most);
  return text;
}

}  // namespace

PlanRequest empty_request(const Graph& graph) {
  PlanRequest request;
  request.plan.operators.resize(graph.nodes().size());
  return request;
}

Policy::Policy(const Graph& graph, const OperatorClasses& classes, const Dependencies& dependencies,
               const RoutedMachine& machine, TileCosts& costs, const TilingGraph& tiling, SplitTable& defaults,
               bool on_chip)
    : graph_(&graph),
      classes_(&classes),
      dependencies_(&dependencies),
      machine_(&machine),
      costs_(&costs),
      tiling_(&tiling),
      defaults_(&defaults),
      on_chip_(on_chip) {}

// Data that fit the cores' memories come once, if a bus carries them to all; what streams comes for every piece.
double Policy::cycles_of(NodeId node, std::uint32_t kind, std::span<const LoopSize> extents, std::int64_t pieces,
                         std::int64_t tiles) {
  const TileEstimate tile = costs_->estimate(node, kind, extents);
  const TileEstimate& whole = costs_->estimate(node, kind, {});
  double cycles = static_cast<double>(tiles) * tile.cycles;
  double bits = 0;
  for (std::size_t p = 0; p < path_count; ++p) {
    const double all = static_cast<double>(pieces * tiles) * tile.bits[p];
    bits += fits_beside(kind, tile, p, pieces, 2) ? std::min(whole.bits[p], all) : all;
  }
  const double width = machine_->home_bits_per_cycle(machine_->first_of_kind(kind));
  if (width > 0) cycles += bits / width;
  return cycles;
}

// In one of so many parts of what is a core's share, where others work in that memory too.
bool Policy::fits_beside(std::uint32_t kind, const TileEstimate& tile, std::size_t path, std::int64_t pieces,
                         int parts) const {
  const CorePlaces& core = (*machine_)[machine_->first_of_kind(kind)];
  const MemoryId memory = core.local[path];
  if (!memory.valid()) return false;
  const std::int64_t sharing = std::max<std::int64_t>(1, std::min<std::int64_t>(pieces, machine_->users(memory)));
  return bytes_beside(core, tile, path) <=
         static_cast<double>(machine_->capacity_bytes(memory)) / static_cast<double>(parts * sharing);
}

// Tiles along a sum, so that what they read fits: the sum stays in its core, and what is read comes once.
void Policy::add_tiled(NodeId node, PolicySplit& split, std::span<const LoopSize> pieces,
                       std::span<const LoopSize> extents) {
  constexpr std::int64_t most_tiles = 64;
  const std::int64_t count = product_of(pieces);
  const auto fits = [&](std::span<const LoopSize> each) {
    const TileEstimate tile = costs_->estimate(node, split.kind, each);
    for (std::size_t p = 0; p < path_count; ++p) {
      if (!fits_beside(split.kind, tile, p, count, 4)) return false;  // the next one comes meanwhile
    }
    return true;
  };
  if (fits(extents)) return;
  for (const CuttableLoop& loop : tiling_->cuttable(node)) {
    if (!loop.reduces) continue;
    std::vector<LoopSize> each(extents.begin(), extents.end());
    each.push_back({loop.loop.name, loop.loop.size});
    std::int64_t tiles = 1;
    while (tiles < most_tiles && each.back().size > 1 && !fits(each)) {
      tiles *= 2;
      each.back().size = ceil_divide(loop.loop.size, tiles);
    }
    if (!fits(each)) continue;
    tiles = ceil_divide(loop.loop.size, each.back().size);
    split.tiled.push_back({.pieces = {pieces.begin(), pieces.end()},
                           .tile = each.back(),
                           .cycles = cycles_of(node, split.kind, each, count, tiles)});
  }
}

const PolicySplit::Tiled* Policy::tiled_of(NodeId node, const PolicySplit& split) const {
  if (split.tiled.empty()) return nullptr;
  const std::vector<LoopsAlong> reads = tiling_->read_along(node);
  const auto comes_in_parts = [&](const PolicySplit::Tiled& tiled) {
    // Of what an operator makes, parts go to one core each.
    return std::ranges::all_of(reads, [&](const LoopsAlong& along) {
      return !(*graph_)[along.tensor].producer.valid() || std::ranges::all_of(tiled.pieces, [&](const LoopSize& piece) {
        return std::ranges::find(along.loops, std::optional(piece.loop)) != along.loops.end();
      });
    });
  };
  const auto found = std::ranges::find_if(split.tiled, comes_in_parts);
  return found == split.tiled.end() ? nullptr : &*found;
}

PolicySplit Policy::best_split(NodeId node, std::uint32_t kind, std::size_t cores) {
  PolicySplit best{.kind = kind, .pieces = {}, .cycles = cycles_of(node, kind, {}, 1), .tiled = {}};
  if (cores <= 1) return best;
  std::vector<CuttableLoop> loops;
  for (const CuttableLoop& loop : tiling_->cuttable(node)) {
    if (!loop.reduces && loop.loop.size > 1) loops.push_back(loop);
  }
  std::ranges::stable_sort(loops, {}, [](const CuttableLoop& loop) { return preference(loop.loop.name); });
  const bool tiled = on_chip_ && !is_light(*graph_, node);
  const auto n = static_cast<std::int64_t>(cores);
  const auto extents_of = [&](const std::vector<LoopSize>& pieces) {
    std::vector<LoopSize> extents;
    for (const LoopSize& piece : pieces) {
      const auto loop = std::ranges::find(loops, piece.loop, [](const CuttableLoop& l) { return l.loop.name; });
      extents.push_back({piece.loop, ceil_divide(loop->loop.size, piece.size)});
    }
    return extents;
  };
  // Of pieces of a convolution that take as long those that leave clearly more room to others.
  constexpr double alike = 1.01, clearly_less = 0.6;
  const bool convolves = tiled && family_of((*graph_)[node].op) == OpFamily::convolution;
  double best_bytes = 0;
  const auto consider = [&](std::vector<LoopSize> pieces) {
    const std::vector<LoopSize> extents = extents_of(pieces);
    const double cycles = cycles_of(node, kind, extents, product_of(pieces));
    if (tiled) add_tiled(node, best, pieces, extents);
    const double bytes = bytes_beside((*machine_)[machine_->first_of_kind(kind)], costs_->estimate(node, kind, extents),
                                      static_cast<std::size_t>(Path::input));
    const bool as_fast =
        convolves && !best.pieces.empty() && cycles < alike * best.cycles && best.cycles < alike * cycles;
    if (as_fast ? bytes >= clearly_less * best_bytes : cycles >= best.cycles) return;
    best_bytes = bytes;
    best.pieces = std::move(pieces);
    best.cycles = cycles;
  };
  for (const CuttableLoop& first : loops) {
    const std::int64_t pieces = needed_pieces(first.loop.size, n);
    consider({{first.loop.name, pieces}});
    if (2 * pieces > n) continue;
    for (const CuttableLoop& second : loops) {
      if (second.loop.name == first.loop.name) continue;
      consider({{first.loop.name, pieces}, {second.loop.name, needed_pieces(second.loop.size, n / pieces)}});
    }
  }
  PolicySplit grid = best;
  for (const CuttableLoop& first : loops) {
    for (std::int64_t most = n / 2; most > 1; most /= 2) {
      const std::int64_t pieces = needed_pieces(first.loop.size, most);
      for (const CuttableLoop& second : loops) {
        if (second.loop.name == first.loop.name || 2 * pieces > n) continue;
        std::vector<LoopSize> both = {{first.loop.name, pieces},
                                      {second.loop.name, needed_pieces(second.loop.size, n / pieces)}};
        const double cycles = cycles_of(node, kind, extents_of(both), product_of(both));
        if (clear_margin * cycles >= best.cycles || cycles >= grid.cycles) continue;
        grid.pieces = std::move(both);
        grid.cycles = cycles;
      }
    }
  }
  best.pieces = std::move(grid.pieces);
  best.cycles = grid.cycles;
  // Without the margin one network of nine was 1.5 times as slow.
  std::erase_if(best.tiled, [&](const PolicySplit::Tiled& each) { return clear_margin * each.cycles >= best.cycles; });
  std::ranges::stable_sort(best.tiled, {}, &PolicySplit::Tiled::cycles);
  return best;
}

Expected<const PolicySplit*> Policy::split_of(NodeId node, std::span<const CoreId> cores) {
  if (!cores.empty()) {
    MONET_TRY(restricted_, find_split(node, cores));
    return &restricted_;
  }
  const std::uint32_t content = (*classes_)[node] * (CoreShare::most_halvings + 1) + share_.halvings;
  if (const PolicySplit* known = defaults_->find(content)) return known;
  MONET_TRY(PolicySplit found, find_split(node, cores));
  return &defaults_->add(content, std::move(found));
}

Expected<PolicySplit> Policy::find_split(NodeId node, std::span<const CoreId> given) {
  std::optional<PolicySplit> best;
  std::vector<std::string> reasons;
  for (std::size_t kind = 0; kind < machine_->kinds(); ++kind) {
    std::size_t cores = share_.of_kind(*machine_, kind).size();
    if (!given.empty()) {
      cores = static_cast<std::size_t>(
          std::ranges::count_if(given, [&](CoreId core) { return (*machine_)[core].kind == kind; }));
    }
    if (cores == 0) continue;
    if (const std::string* reason = costs_->refusal(node, kind)) {
      const std::string text = by_type(*reason, machine_->hardware()[machine_->first_of_kind(kind)]);
      if (std::ranges::find(reasons, text) == reasons.end()) reasons.push_back(text);
      continue;
    }
    PolicySplit split = best_split(node, static_cast<std::uint32_t>(kind), cores);
    if (!best || split.cycles < best->cycles) best = std::move(split);
  }
  if (!best) {
    return Error{.kind = ErrorKind::infeasible,
                 .message = fmt::format("no core can run it: {}", listed(reasons)),
                 .place = (*graph_)[node].name,
                 .advice = "add a core for it to the hardware, or operations to a core's unit"};
  }
  return *std::move(best);
}

Expected<std::vector<bool>> Policy::lights_on_one_core(const BoundPlan& plan) {
  std::vector<bool> result(graph_->nodes().size(), false);
  for (std::size_t n = 0; n < result.size(); ++n) {
    if (!is_light(*graph_, NodeId(n)) || !plan.operators[n].cores.empty()) continue;
    MONET_TRY(const PolicySplit* chosen, split_of(NodeId(n), {}));
    result[n] = share_.of_kind(*machine_, chosen->kind).size() == 1;
  }
  return result;
}

Expected<Assignment> Policy::complete(const PlanRequest& request, CoreShare share) {
  share_ = share;
  const BoundPlan& plan = request.plan;
  Assignment result{.order = plan.order, .transfers = plan.transfers};
  result.paged = request.paged;
  result.operators.resize(graph_->nodes().size());
  std::vector<bool> is_free(graph_->nodes().size(), false);  // nothing is said of it
  const bool light = on_chip_ && plan.transfers == PlanTransfers::direct && plan.order != PlanOrder::listed;
  std::size_t placed = 0, split = 0, alone = 0, joined = 0, computing = 0;
  std::vector<CoreId> of_kind;
  std::optional<LightPieces> light_pieces;
  if (light) {
    MONET_TRY(const std::vector<bool> on_one_core, lights_on_one_core(plan));
    light_pieces.emplace(*graph_, *dependencies_, *tiling_, *machine_, share_, *costs_, on_one_core);
  }
  for (std::size_t n = 0; n < graph_->nodes().size(); ++n) {
    const NodeId node(n);
    if (family_of((*graph_)[node].op) == OpFamily::view) continue;
    const BoundOperator& wanted = plan.operators[n];
    OperatorAssignment& to = result.operators[n];
    to.priority = wanted.priority.value_or(0);
    to.cuts = wanted.cuts;
    std::span<const CoreId> cores = wanted.cores;
    ++computing;
    alone += wanted.stack ? 0 : 1;
    if (!wanted.split_stated || cores.empty()) {
      MONET_TRY(const PolicySplit* chosen, split_of(node, cores));
      if (!wanted.split_stated) {
        is_free[n] = light && cores.empty() && !wanted.stack && !wanted.tile_stated && !wanted.priority;
        const PolicySplit::Tiled* tiled = is_free[n] ? tiled_of(node, *chosen) : nullptr;
        std::vector<LoopSize> pieces = tiled == nullptr ? chosen->pieces : tiled->pieces;
        if (is_free[n] && is_light(*graph_, node)) {
          pieces = light_pieces->cut(node, chosen->kind, std::move(pieces));
        }
        split += pieces.empty() ? 0 : 1;
        for (const LoopSize& piece : pieces) split_along(to.cuts, piece);
        if (tiled != nullptr) to.cuts.push_back({tiled->tile.loop, 1, tiled->tile.size});
      }
      placed += cores.empty() ? 1 : 0;
      if (cores.empty()) {
        cores = share_.of_kind(*machine_, chosen->kind);
      } else {
        of_kind.clear();
        std::ranges::copy_if(cores, std::back_inserter(of_kind),
                             [&](CoreId core) { return (*machine_)[core].kind == chosen->kind; });
        cores = of_kind;
      }
    }
    if (light) light_pieces->add(node, to.cuts);
    std::size_t count = 1;
    for (const LoopCut& cut : to.cuts) count *= static_cast<std::size_t>(cut.pieces);
    to.cores.reserve(count);
    for (std::size_t i = 0; i < count; ++i) to.cores.push_back(cores[i % cores.size()]);
  }
  std::vector<StackNodes> stacks;
  for (const BoundStack& stack : plan.stacks) stacks.push_back({.name = stack.name, .nodes = stack.nodes, .place = {}});
  const std::size_t stated = stacks.size();
  for (std::vector<NodeId>& nodes :
       join_light(*graph_, *dependencies_, *tiling_, *machine_, share_, is_free, result.operators)) {
    joined += nodes.size();
    stacks.push_back({.name = {}, .nodes = std::move(nodes), .place = {}});
  }
  auto order = run_order(*graph_, *dependencies_, stacks, plan.order == PlanOrder::listed);
  // Beside stacks of the plan, which come first, ours may have to wait for each other.
  if (!order && joined > 0) {
    joined = 0;
    stacks.resize(stated);
    order = run_order(*graph_, *dependencies_, stacks, plan.order == PlanOrder::listed);
  }
  alone -= joined;
  MONET_TRY(result.stacks, std::move(order));
  if (plan.order == PlanOrder::frugal) {
    result.stacks = frugal_order(*graph_, *dependencies_, std::move(result.stacks));
  }
  for (std::size_t s = 0; s < result.stacks.size(); ++s) {
    for (NodeId node : result.stacks[s]) result.operators[node.index()].stack = static_cast<std::uint32_t>(s);
  }
  const auto say = [&](std::size_t count, const char* what) {
    if (count > 0) result.filled.push_back(fmt::format("{} of {} operators {}", count, computing, what));
  };
  say(placed, "on the kind of core that is fastest for them");
  say(split, "split over the cores of their kind");
  if (share.halvings > 0) {
    result.filled.push_back(
        fmt::format("1 of {} cores of a kind is used, for the step takes longer on more", 1U << share.halvings));
  }
  say(joined, "in stacks with what they read from");
  say(alone, "in stacks of their own");
  return result;
}

}  // namespace monet
