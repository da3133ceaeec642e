#include "optimize/assignment/moves.h"

#include "base/checked.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <tuple>

namespace monet::assigning {

namespace {

constexpr std::int64_t most_tiles = 4096;  // of an operator

const CuttableLoop* cuttable_loop(const TilingGraph& tiling, NodeId node, Dim name) {
  for (const CuttableLoop& loop : tiling.cuttable(node)) {
    if (loop.loop.name == name) return &loop;
  }
  return nullptr;
}

LoopCut* cut_along(std::vector<LoopCut>& cuts, Dim loop) {
  const auto found = std::ranges::find(cuts, loop, &LoopCut::loop);
  return found == cuts.end() ? nullptr : &*found;
}

std::int64_t tiles_of(const TilingGraph& tiling, NodeId node, std::span<const LoopCut> cuts) {
  std::int64_t count = 1;
  for (const LoopCut& cut : cuts) {
    const CuttableLoop* loop = cuttable_loop(tiling, node, cut.loop);
    if (loop == nullptr) continue;
    const std::int64_t piece = ceil_divide(loop->loop.size, cut.pieces);
    count *= cut.pieces * (cut.tile > 0 ? ceil_divide(piece, cut.tile) : 1);
  }
  return count;
}

// Cuts that say nothing are none; those into pieces come first.
void tidy(std::vector<LoopCut>& cuts) {
  std::erase_if(cuts, [](const LoopCut& cut) { return cut.pieces <= 1 && cut.tile == 0; });
  std::ranges::stable_partition(cuts, [](const LoopCut& cut) { return cut.pieces > 1; });
}

}  // namespace

Moves::Moves(const Graph& graph, Evaluator& evaluator, const MoveOptions& options)
    : graph_(graph), evaluator_(evaluator), options_(options), groups_(3), runs_on_(graph.nodes().size()) {
  const RoutedMachine& machine = evaluator.machine();
  for (std::size_t k = 0; k < machine.kinds(); ++k) {
    cores_.emplace_back(machine.cores_of_kind(k).begin(), machine.cores_of_kind(k).end());
  }
  for (std::size_t c = 0; c < machine.hardware().cores.size(); ++c) kind_of_.push_back(machine[CoreId(c)].kind);
  std::map<std::pair<Op, Phase>, std::size_t> of_kind;
  std::map<std::pair<std::uint32_t, Phase>, std::size_t> of_content;
  const auto add = [](std::vector<Group>& groups, auto& known, const auto& key, NodeId node) {
    const auto [entry, added] = known.try_emplace(key, groups.size());
    if (added) groups.emplace_back();
    groups[entry->second].nodes.push_back(node);
  };
  for (std::size_t n = 0; n < graph.nodes().size(); ++n) {
    const NodeId node(n);
    if (evaluator.dependencies().is_view(node) || !is_free(node)) continue;
    add(groups_[0], of_kind, std::pair(graph[node].op, graph[node].phase), node);
    add(groups_[1], of_content, std::pair(evaluator.classes()[node], graph[node].phase), node);
    groups_[2].push_back({.nodes = {node}});
    for (std::uint32_t kind = 0; kind < machine.kinds(); ++kind) {
      if (evaluator.costs().refusal(node, kind) == nullptr) runs_on_[n].push_back(kind);
    }
  }
  for (std::size_t i = groups_.size(); i-- > 1;) {
    std::erase_if(groups_[i], [&](const Group& group) {
      return std::ranges::any_of(
          groups_.begin(), groups_.begin() + static_cast<std::ptrdiff_t>(i),
          [&](const auto& more) { return std::ranges::find(more, group.nodes, &Group::nodes) != more.end(); });
    });
  }
}

bool Moves::is_free(NodeId node) const { return options_.decided.empty() || !options_.decided[node.index()]; }

std::int64_t Moves::size_of(NodeId node, Dim name) const {
  const CuttableLoop* loop = cuttable_loop(evaluator_.tiling(), node, name);
  return loop == nullptr ? 0 : loop->loop.size;
}

std::vector<AssignmentMove> Moves::of(const State& state, const Weights& weights, bool single) const {
  std::vector<AssignmentMove> moves;
  const auto add_all = [&](Alike alike) {
    for (const Group& group : groups_[static_cast<std::size_t>(alike)]) {
      if (options_.order) add_turns(state, group, moves);
      if (options_.cores) add_splits(group, moves);
      if (options_.tiles) add_tiles(state, group, moves);
    }
    if (!options_.stacks) return;
    add_joins(state, alike, moves);
    add_parts(state, alike, moves);
  };
  if (single) {
    add_all(Alike::itself);
    return ranked(std::move(moves), weights);
  }
  add_all(Alike::kind);
  add_all(Alike::content);
  moves = ranked(std::move(moves), weights);
  std::vector<AssignmentMove> result;
  if (options_.order) add_sequences(state, result);
  std::ranges::move(moves, std::back_inserter(result));
  return result;
}

// By what their operators weigh; of those that change the same operators in the same way, each less than the one
// before.
std::vector<AssignmentMove> Moves::ranked(std::vector<AssignmentMove> moves, const Weights& weights) {
  std::vector<std::pair<double, std::size_t>> keys;
  std::map<std::tuple<MoveKind, NodeId, NodeId, std::size_t>, int> before;
  for (std::size_t i = 0; i < moves.size(); ++i) {
    double weight = 0;
    for (NodeId node : moves[i].nodes) weight += weights[node.index()];
    for (NodeId node : moves[i].makers) weight += weights[node.index()];
    const NodeId maker = moves[i].makers.empty() ? NodeId() : moves[i].makers.front();
    weight /= 1 + before[{moves[i].kind, moves[i].nodes.front(), maker, moves[i].nodes.size()}]++;
    keys.emplace_back(-weight, i);
  }
  std::ranges::stable_sort(keys, {}, [](const auto& each) { return each.first; });
  std::vector<AssignmentMove> sorted;
  for (const auto& key : keys) sorted.push_back(std::move(moves[key.second]));
  return sorted;
}

void Moves::add_sequences(const State& state, std::vector<AssignmentMove>& moves) const {
  const auto add = [&](Sequence sequence, PlanOrder order, PlanTransfers transfers) {
    if (sequence == state.sequence && order == state.order && transfers == state.transfers) return;
    AssignmentMove move{.kind = MoveKind::sequence};
    move.sequence = sequence;
    move.order = order;
    move.transfers = transfers;
    moves.push_back(std::move(move));
  };
  for (const Sequence sequence : {Sequence::graph, Sequence::longest, Sequence::latest}) {
    add(sequence, PlanOrder::critical_path, state.transfers);
  }
  for (const PlanOrder order : {PlanOrder::graph, PlanOrder::frugal}) add(state.sequence, order, state.transfers);
  add(state.sequence, state.order,
      state.transfers == PlanTransfers::direct ? PlanTransfers::memory : PlanTransfers::direct);
}

void Moves::add_turns(const State& state, const Group& group, std::vector<AssignmentMove>& moves) const {
  if (state.order != PlanOrder::critical_path) return;
  for (const Turn turn : {Turn::early, Turn::late, Turn::usual}) {
    if (std::ranges::all_of(group.nodes, [&](NodeId node) { return state.turns[node.index()] == turn; })) continue;
    AssignmentMove move{.kind = MoveKind::turn, .nodes = group.nodes};
    move.turn = turn;
    moves.push_back(std::move(move));
  }
}

void Moves::add_splits(const Group& group, std::vector<AssignmentMove>& moves) const {
  const NodeId first = group.nodes.front();
  for (std::uint32_t kind : runs_on_[first.index()]) {
    const std::size_t all = cores_[kind].size();
    const auto add = [&](std::vector<Dim> loops, std::vector<std::int64_t> parts, std::size_t cores) {
      AssignmentMove move{.kind = MoveKind::split, .nodes = group.nodes};
      move.loops = std::move(loops);
      move.parts = std::move(parts);
      move.core_kind = kind;
      move.cores = cores;
      moves.push_back(std::move(move));
    };
    add({}, {}, 1);
    for (std::size_t cores = all; cores > 1;
         cores = cores > 4 ? cores / 2 : (cores == all && all > 2 ? cores / 2 : 1)) {
      const auto wanted = static_cast<std::int64_t>(cores);
      for (const CuttableLoop& loop : evaluator_.tiling().cuttable(first)) {
        if (loop.reduces) continue;
        add({loop.loop.name}, {wanted}, cores);
        if (cores < all || cores < 4) continue;
        for (const CuttableLoop& second : evaluator_.tiling().cuttable(first)) {
          if (second.reduces || second.loop.name <= loop.loop.name) continue;
          for (std::int64_t parts = 2; parts < wanted; parts *= 2) {
            if (wanted % parts == 0) add({loop.loop.name, second.loop.name}, {parts, wanted / parts}, cores);
          }
        }
      }
    }
  }
}

void Moves::add_tiles(const State& state, const Group& group, std::vector<AssignmentMove>& moves) const {
  const NodeId first = group.nodes.front();
  const auto add = [&](std::vector<Dim> loops, std::vector<std::int64_t> parts) {
    AssignmentMove move{.kind = MoveKind::tile, .nodes = group.nodes};
    move.loops = std::move(loops);
    move.parts = std::move(parts);
    moves.push_back(std::move(move));
  };
  const std::vector<LoopCut>& cuts = state.operators[first.index()].cuts;
  if (std::ranges::any_of(cuts, [](const LoopCut& cut) { return cut.tile > 0; })) add({}, {});
  for (const CuttableLoop& loop : evaluator_.tiling().cuttable(first)) {
    for (const std::int64_t parts : {2, 4, 8, 16, 64}) {
      if (parts <= loop.loop.size) add({loop.loop.name}, {parts});
    }
  }
}

// What reads and what makes.
void Moves::add_joins(const State& state, Alike alike, std::vector<AssignmentMove>& moves) const {
  using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;
  std::map<Key, std::vector<Edge>> edges;
  const auto of = [&](NodeId node) -> std::uint32_t {
    if (alike == Alike::content) return evaluator_.classes()[node];
    const Node& what = graph_[node];
    return static_cast<std::uint32_t>(what.op) * 4 + static_cast<std::uint32_t>(what.phase);
  };
  for (std::uint32_t n = 0; n < graph_.nodes().size(); ++n) {
    const NodeId reader(n);
    if (evaluator_.dependencies().is_view(reader) || !is_free(reader)) continue;
    for (NodeId maker : evaluator_.dependencies().before(reader)) {
      if (!is_free(maker)) continue;
      const std::uint32_t a = state.operators[maker.index()].stack, b = state.operators[n].stack;
      if (a != no_stack && a == b) continue;
      edges[{of(maker), of(reader), alike == Alike::itself ? n : 0}].push_back({maker, reader});
    }
  }
  for (const auto& [key, members] : edges) {
    AssignmentMove move{.kind = MoveKind::join};
    std::set<std::uint32_t> taken;
    for (const Edge& edge : members) {
      if (!taken.insert(static_cast<std::uint32_t>(edge.reader.index())).second) continue;
      move.nodes.push_back(edge.reader);
      move.makers.push_back(edge.maker);
    }
    moves.push_back(move);  // each cut as it is
    const Edge edge = members.front();
    // Along an axis of what passes between them.
    for (const LoopsAlong& made : evaluator_.tiling().written_along(edge.maker)) {
      for (const LoopsAlong& read : evaluator_.tiling().read_along(edge.reader)) {
        if (read.tensor != made.tensor || read.loops.size() != made.loops.size()) continue;
        for (std::size_t axis = 0; axis < made.loops.size(); ++axis) {
          if (!made.loops[axis] || !read.loops[axis]) continue;
          const std::int64_t size = size_of(edge.maker, *made.loops[axis]);
          if (size < 2 || size != size_of(edge.reader, *read.loops[axis])) continue;
          for (const std::int64_t parts : {4, 16, 64}) {
            if (parts > size) continue;
            AssignmentMove tiled = move;
            tiled.loops = {*read.loops[axis], *made.loops[axis]};
            tiled.parts = {parts, parts};
            moves.push_back(std::move(tiled));
          }
        }
      }
    }
  }
}

// Operators leave their stacks.
void Moves::add_parts(const State& state, Alike alike, std::vector<AssignmentMove>& moves) const {
  for (const Group& group : groups_[static_cast<std::size_t>(alike)]) {
    AssignmentMove move{.kind = MoveKind::part};
    for (NodeId node : group.nodes) {
      if (state.operators[node.index()].stack != no_stack) move.nodes.push_back(node);
    }
    if (!move.nodes.empty()) moves.push_back(std::move(move));
  }
}

std::int64_t Moves::tiles(const State& state) const {
  std::int64_t count = 0;
  for (std::size_t n = 0; n < state.operators.size(); ++n) {
    if (!state.operators[n].cores.empty()) count += tiles_of(evaluator_.tiling(), NodeId(n), state.operators[n].cuts);
  }
  return count;
}

std::optional<State> Moves::moved(const State& state, const AssignmentMove& move) const {
  State next = state;
  bool changed = false;
  switch (move.kind) {
    case MoveKind::sequence:
      changed = next.sequence != move.sequence || next.order != move.order || next.transfers != move.transfers;
      next.sequence = move.sequence;
      next.order = move.order;
      next.transfers = move.transfers;
      break;
    case MoveKind::turn:
      for (NodeId node : move.nodes) {
        changed |= next.turns[node.index()] != move.turn;
        next.turns[node.index()] = move.turn;
      }
      break;
    case MoveKind::split:
      for (std::size_t i = 0; i < move.nodes.size(); ++i) changed |= split(next, move, i);
      break;
    case MoveKind::tile:
      for (NodeId node : move.nodes) changed |= cut(next, move, node);
      break;
    case MoveKind::join:
      for (std::size_t i = 0; i < move.nodes.size(); ++i) changed |= join(next, move, i);
      break;
    case MoveKind::part:
      for (NodeId node : move.nodes) {
        changed |= next.operators[node.index()].stack != no_stack;
        next.operators[node.index()].stack = no_stack;
      }
      break;
  }
  if (!changed) return std::nullopt;
  return next;
}

bool Moves::split(State& state, const AssignmentMove& move, std::size_t member) const {
  const NodeId node = move.nodes[member];
  if (std::ranges::find(runs_on_[node.index()], move.core_kind) == runs_on_[node.index()].end()) return false;
  OperatorAssignment next = state.operators[node.index()];
  for (LoopCut& cut : next.cuts) cut.pieces = 1;
  std::vector<LoopCut> pieces;
  std::int64_t count = 1;
  for (std::size_t l = 0; l < move.loops.size(); ++l) {
    const std::int64_t size = size_of(node, move.loops[l]);
    if (size < 2) return false;
    const std::int64_t wanted = std::min(size, move.parts[l]);
    LoopCut piece{move.loops[l], ceil_divide(size, ceil_divide(size, wanted)), 0};
    if (const LoopCut* known = cut_along(next.cuts, move.loops[l])) piece.tile = known->tile;
    if (piece.tile >= ceil_divide(size, piece.pieces)) piece.tile = 0;
    std::erase_if(next.cuts, [&](const LoopCut& cut) { return cut.loop == move.loops[l]; });
    count *= piece.pieces;
    pieces.push_back(piece);
  }
  next.cuts.insert(next.cuts.begin(), pieces.begin(), pieces.end());
  tidy(next.cuts);
  if (tiles_of(evaluator_.tiling(), node, next.cuts) > most_tiles) return false;
  // Where not all cores of the kind work on it, others of the group go to the rest.
  const std::vector<CoreId>& all = cores_[move.core_kind];
  const std::size_t first = member * move.cores % all.size();
  next.cores.clear();
  for (std::int64_t i = 0; i < count; ++i) {
    next.cores.push_back(all[(first + static_cast<std::size_t>(i) % move.cores) % all.size()]);
  }
  if (next == state.operators[node.index()]) return false;
  state.operators[node.index()] = std::move(next);
  return true;
}

bool Moves::cut(State& state, const AssignmentMove& move, NodeId node) const {
  OperatorAssignment next = state.operators[node.index()];
  for (LoopCut& cut : next.cuts) cut.tile = 0;
  // Pieces on one core are tiles by another name.
  if (std::ranges::all_of(next.cores, [&](CoreId core) { return core == next.cores.front(); })) {
    next.cores.resize(1);
    next.cuts.clear();
  }
  for (std::size_t l = 0; l < move.loops.size(); ++l) {
    const std::int64_t size = size_of(node, move.loops[l]);
    if (size < 2) return false;
    LoopCut* known = cut_along(next.cuts, move.loops[l]);
    if (known == nullptr) known = &next.cuts.emplace_back(LoopCut{.loop = move.loops[l]});
    const std::int64_t piece = ceil_divide(size, known->pieces);
    const std::int64_t tile = ceil_divide(piece, move.parts[l]);
    known->tile = tile < piece ? tile : 0;
  }
  tidy(next.cuts);
  if (tiles_of(evaluator_.tiling(), node, next.cuts) > most_tiles) return false;
  if (next == state.operators[node.index()]) return false;
  state.operators[node.index()] = std::move(next);
  return true;
}

bool Moves::join(State& state, const AssignmentMove& move, std::size_t member) const {
  const NodeId reader = move.nodes[member], maker = move.makers[member];
  if (!move.loops.empty()) {
    const auto tile = [&](NodeId node, Dim loop, std::int64_t parts) {
      AssignmentMove one{.kind = MoveKind::tile, .nodes = {node}};
      one.loops = {loop};
      one.parts = {parts};
      if (size_of(node, loop) < 2) return false;
      cut(state, one, node);
      return true;
    };
    if (size_of(reader, move.loops[0]) != size_of(maker, move.loops[1])) return false;
    if (!tile(reader, move.loops[0], move.parts[0]) || !tile(maker, move.loops[1], move.parts[1])) return false;
  }
  std::uint32_t& a = state.operators[maker.index()].stack;
  std::uint32_t& b = state.operators[reader.index()].stack;
  if (a != no_stack && a == b) return !move.loops.empty();
  if (a == no_stack) a = state.stacks++;
  if (b == no_stack) {
    b = a;
    return true;
  }
  const std::uint32_t from = b, to = a;
  for (OperatorAssignment& op : state.operators) {
    if (op.stack == from) op.stack = to;
  }
  return true;
}

}  // namespace monet::assigning
