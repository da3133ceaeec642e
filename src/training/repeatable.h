// What of the forward part can be computed a second time, and until when: the ground on which recompute() stands.
#pragma once

#include "graph/graph.h"

#include <limits>
#include <string>
#include <vector>

namespace monet::training {

class Repeatable {
 public:
  // Keeps a reference to the graph.
  explicit Repeatable(const Graph& graph);

  bool is_made_forward(TensorId id) const;
  bool is_view(TensorId id) const;  // made forward, by a view
  // Stored, made forward, read by the backward part.
  bool is_saved(TensorId id) const { return read_later_[id.index()] && is_stored(id) && !is_there_anyway(id); }
  // Made forward and there at the end of the step, whatever a plan says: an output, or what replaces a weight.
  bool is_there_anyway(TensorId id) const;

  // Whether copies of the node read that input at all: training batch norms do not need the old running statistics.
  static bool reads_again(const Node& node, std::size_t input);
  // The mask with which a dropout can be repeated; not valid: it is no dropout or keeps no mask.
  TensorId kept_mask(const Node& node) const;

  // Why a saved tensor cannot be recomputed, all other saved tensors being kept; empty: it can. Tensors that can be
  // recomputed one by one can be recomputed together.
  std::string reason(TensorId id) const;

 private:
  static constexpr std::size_t never = std::numeric_limits<std::size_t>::max();

  // What stands in the way of computing something again.
  struct Obstacle {
    NodeId random;              // a node that would give other values
    std::size_t until = never;  // the first node after which an input is gone: `replaced`
    TensorId replaced;
  };

  bool is_stored(TensorId id) const { return is_made_forward(id) && !is_view(id); }
  void find_readers();
  void find_obstacles();
  Obstacle obstacle_of(const Node& node) const;

  const Graph& graph_;
  std::vector<bool> read_later_;           // by tensor: by the backward part, itself or through views
  std::vector<bool> output_;               // by tensor: the step's, itself or through views
  std::vector<std::size_t> first_reader_;  // by tensor: the first node of the backward part, also through views
  std::vector<std::size_t> replaced_at_;   // by tensor: the node that replaces its value
  std::vector<Obstacle> obstacles_;        // by tensor
};

}  // namespace monet::training
