// Neighbours of a way to carry out a step. Equal operators are changed together: first all of one kind (the updates of
// weights, say), then those of equal content, then single ones.
#pragma once

#include "optimize/assignment/state.h"

#include <optional>
#include <span>
#include <vector>

namespace monet::assigning {

// What moves may change.
struct MoveOptions {
  bool cores = true, tiles = true, stacks = true, order = true;
  std::vector<bool> decided;  // by node: the plan that is kept to speaks of it; empty: of none
};

enum class MoveKind : std::uint8_t { sequence, turn, split, tile, join, part };
constexpr std::size_t move_kinds = 6;

struct AssignmentMove {
  MoveKind kind = MoveKind::turn;
  std::vector<NodeId> nodes;   // that it is about; of a join those that join what they read
  std::vector<NodeId> makers;  // of a join: by node, what it joins
  std::vector<Dim> loops;      // split or cut along these; none: whole. Of a join, of the reader, then of the maker
  std::vector<std::int64_t> parts;  // by loop: pieces, or tiles of a piece
  std::uint32_t core_kind = 0;
  std::size_t cores = 0;  // of a split: how many work on one operator
  Turn turn = Turn::usual;
  Sequence sequence = Sequence::longest;
  PlanOrder order = PlanOrder::critical_path;
  PlanTransfers transfers = PlanTransfers::direct;
};

// By node: what moves of it are worth trying first.
using Weights = std::vector<double>;

class Moves {
 public:
  // All must outlive it.
  Moves(const Graph& graph, Evaluator& evaluator, const MoveOptions& options);

  // All neighbours of a state, those that concern most first: that change operators of one kind or of equal content
  // together, or single ones.
  std::vector<AssignmentMove> of(const State& state, const Weights& weights, bool single) const;

  // Of the whole step, at most one too many for a loop that a split does not divide.
  std::int64_t tiles(const State& state) const;

  // Nothing: it changes nothing there.
  std::optional<State> moved(const State& state, const AssignmentMove& move) const;

 private:
  enum class Alike : std::uint8_t { kind, content, itself };
  struct Group {
    std::vector<NodeId> nodes;
  };
  struct Edge {
    NodeId maker, reader;
  };

  bool is_free(NodeId node) const;
  std::int64_t size_of(NodeId node, Dim loop) const;
  void add_splits(const Group& group, std::vector<AssignmentMove>& moves) const;
  void add_tiles(const State& state, const Group& group, std::vector<AssignmentMove>& moves) const;
  void add_turns(const State& state, const Group& group, std::vector<AssignmentMove>& moves) const;
  void add_joins(const State& state, Alike alike, std::vector<AssignmentMove>& moves) const;
  void add_parts(const State& state, Alike alike, std::vector<AssignmentMove>& moves) const;
  void add_sequences(const State& state, std::vector<AssignmentMove>& moves) const;
  static std::vector<AssignmentMove> ranked(std::vector<AssignmentMove> moves, const Weights& weights);
  bool split(State& state, const AssignmentMove& move, std::size_t member) const;
  bool cut(State& state, const AssignmentMove& move, NodeId node) const;
  bool join(State& state, const AssignmentMove& move, std::size_t member) const;

  const Graph& graph_;
  Evaluator& evaluator_;
  const MoveOptions& options_;
  std::vector<std::vector<Group>> groups_;           // by what is alike; each set of operators once
  std::vector<std::vector<CoreId>> cores_;           // by kind
  std::vector<std::vector<std::uint32_t>> runs_on_;  // by node: kinds of cores
  std::vector<std::uint32_t> kind_of_;               // by core
};

}  // namespace monet::assigning
