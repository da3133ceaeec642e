// The repeated blocks of a network (residual blocks, transformer layers), found in the structure of its graph: what
// block-wise checkpointing works on.
#pragma once

#include "graph/graph.h"

#include <vector>

namespace monet::training {

struct Block {
  TensorId entry;             // what both ways to its sum start from: kept when the block is recomputed
  TensorId exit;              // what the rest of the network reads: the sum, or what follows it (an activation, a norm)
  std::vector<NodeId> nodes;  // of the forward part, in order
};

// In the order of the graph; no node is in two of them.
//
// A residual connection is a sum of two tensors of its own shape that come from one tensor by two ways: as it is or
// through a projection, and through layers with a product or convolution and an activation function between. The block
// begins at that tensor, the last one that both ways share, and ends at the sum. Activation functions and norms between
// the sum and the beginning of the next block belong to it; after the last block of a row, the same as after the one
// before. Where a connection spans several others the inner ones are the blocks. A block in which data meet
// themselves in a product (attention) and the blocks behind it in which they do not (a feed-forward part) are one: a
// transformer layer.
//
// Requires: verify(graph). Connections that span more than 512 operators are not looked for.
// Cost: linear in the operators that the connections span.
std::vector<Block> find_blocks(const Graph& graph);

// What the step saves inside the blocks and for nobody else: made in a block, read by the backward part, the entry of
// no block, and saved by no operator outside its block. Only what can be recomputed. In the order of the graph.
std::vector<TensorId> saved_in_blocks(const Graph& graph, const std::vector<Block>& blocks);

}  // namespace monet::training
