// Which weights are split for tensor parallelism, found by structure: products with weights whose results, cut by their
// columns, run through operators that can all be cut so into products that sum over them. Then one sum over the chips
// joins the two products: the halves of a feed-forward layer, projections and output of attention by heads, pairs of
// convolutions by channels. Tables that words of the step's inputs choose from are split by rows, and products whose
// columns are the classes of a loss by those: embeddings, heads and the loss by words.
#pragma once

#include "parallel/split.h"

#include <string>
#include <vector>

namespace monet::parallel {

struct TensorParallel {
  Places stored;                          // weights, their states, statistics
  Places rows;                            // gradients of tables that are split by rows
  std::vector<std::string> in_parts;      // products whose bias is added after the sum
  std::vector<std::string> rest;          // products with weights that every chip computes whole
  std::vector<std::string> first, last;   // products by columns, and those that sum over them
  std::vector<std::string> heads;         // products by the classes of a loss
  std::vector<std::string> tables;        // weights that are split by rows
  std::vector<std::string> whole_tables;  // weights that could be, had they a number of rows that divides
};

// What the optimizer keeps of a weight lies as the weight does: tensors named after it, of the same size there.
void add_states(const Graph& step, std::int64_t chips, Places& stored);

// Of the forward part. Cost: linear in the graph, times the products of one region.
TensorParallel tensor_parallel(const Graph& step, std::int64_t chips);

}  // namespace monet::parallel
