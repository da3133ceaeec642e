// A finished step, or one chip's part of one, cut over the chips of one axis of the mesh. Where the plan says where
// tensors are, that holds; everywhere else the operators' rule (cut.h) gives the places, and where several would do,
// that for which the least is sent. Collectives stand between places that differ.
//
//   sharded → whole    AllGather             partial → whole    AllReduce
//   partial → sharded  ReduceScatter         sharded i → j      AllToAll
//   whole → sharded    a slice, nothing is sent
#pragma once

#include "parallel/place.h"

#include <monet/expected.h>

#include <functional>
#include <string>
#include <unordered_map>

namespace monet::parallel {

using Places = std::unordered_map<std::string, Place>;  // by name of a tensor

struct AxisPlan {
  std::string axis;
  std::int64_t chips = 1;
  // Tensors that come from outside the step; those that are not here are whole.
  Places stored;
  // Where sums of terms of these go if their reader can use them so: gradients, to where the optimizer's states are.
  Places preferred;
  // Gradients of tables whose rows are cut: every chip makes its own rows alone.
  Places rows;
  // What goes there as soon as it is made.
  Places settled;
  // Their readers before the optimizer get them whole: ZeRO-3. What is cast of them is cast in pieces.
  std::vector<std::string> gathered;
  bool gathers_activations = true;     // false: that a loop cannot be cut is an error
  bool gathers_parameters = false;     // as well as activations, and sends pieces of one axis for those of another
  bool exchanges_activations = false;  // sends pieces of one axis of an activation for those of another
  bool gathers_again = false;          // what is gathered for the forward part is not kept for the backward part
  bool scatters_gradients = false;  // gradients that add up over micro-batches are scattered at each of them (ZeRO-2)
};

struct AxisResult {
  Graph graph;
  Places places;  // of every tensor that has a name of the step before
};

// Ensures: verify() holds where it held before; tensors keep their names and their order, and the sums over the chips
// of what the step gives are those of the step before.
// Fails where a loop cannot be cut, with the operator, the loop and what would do.
// Cost: linear in the graph, times the inputs of an operator.
Expected<AxisResult> split(Graph step, const AxisPlan& plan);

// Bytes that leave one chip when a tensor goes from one place to another.
double bytes_sent(const Tensor& tensor, const Place& from, const Place& to, std::int64_t chips);

}  // namespace monet::parallel
