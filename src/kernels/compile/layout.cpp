#include "kernels/compile/layout.h"

namespace monet::compiling {

bool prefers_channels_last(const Graph& graph) {
  std::size_t convolutions = 0, operators = 0;
  bool all_small = true;
  for (const Node& node : graph.nodes()) {
    if (node.phase != Phase::forward || node.recomputed) continue;
    ++operators;
    if (node.op != Op::Conv) continue;
    const Shape& weight = graph[node.inputs[1]].type.shape;  // out, in of a group, window
    if (weight.size() != 4) continue;
    ++convolutions;
    if (node.attributes.integer_or(Attr::group, 1) > 1 && weight[1] > 1) return false;
    if (2 * weight[0] <= weight[1] && weight[2] > 1) return false;
    all_small &= weight[0] <= 64 && weight[1] <= 64;
  }
  constexpr std::size_t operators_of_a_convolution = 300;
  return convolutions > 0 && operators < operators_of_a_convolution * convolutions && !all_small;
}

}  // namespace monet::compiling
