// A graph with its products in the number formats of a recipe.
#pragma once

#include "graph/graph.h"
#include "training/recipe.h"

namespace monet::training {

// What the operands of the products have become, by class of tensor.
struct QuantizedClass {
  // weights, activations, gradients: what products read; stored values, accumulators, master weights, weight gradients,
  // optimizer state: where the recipe has a format for them
  std::string name;
  std::string format;              // the recipe's name for it
  std::int64_t tensors = 0;        // of that class; weights, activations, gradients: that products read
  std::int64_t copies = 0;         // quantized copies of them, beside what they are stored in
  std::int64_t elements = 0;       // that are quantized in a step, each copy counted
  std::int64_t bytes = 0;          // of all copies and of weights stored so; of a class without copies, of its tensors
  std::int64_t padding_bytes = 0;  // of these: what fills groups up
};

struct QuantizedGraph {
  Graph graph;
  std::vector<TensorId> tensors;  // by tensor before: its number now; not valid: a cast or view that nobody reads now
  std::vector<QuantizedClass> classes;
  std::vector<std::string> notes;  // products that stay as they are, and why
};

// A step (or a forward part) whose products read the recipe's formats, through Quantize nodes.
//
// - The groups of an operand lie along the axis that the product sums over (of a convolution: channels; of the gradient
//   of its weight: the batch, the only one along which groups of both operands meet); square groups along that axis and
//   the other of the two, so that all products share one copy. Scales of channels lie across it.
// - A copy is made once for all products that can read it. Transposes, reshapes and casts between a tensor and a
//   product are looked through.
// - A weight that nothing updates is stored in the format of its first copy, those of other formats beside it (without
//   Tensor::parameter), if products alone read it.
// - Copies::stored makes the copies that the backward part reads in the forward part, so that they are what is saved.
// Ensures that verify() holds. Cost: linear in the nodes.
Expected<QuantizedGraph> quantized(Graph graph, const Recipe& recipe);

// Every tensor that is wider as so many bits: Recipe::everything. Operators stay what they are, so that verify() need
// not hold; sizes, costs and schedules are what it is for.
Graph all_in(ElementType type, Graph graph);

// A forward graph in the recipe's `values`, before it is differentiated; with Recipe::attention fused attention is
// written as products and a softmax.
Graph with_values_of(const Recipe& recipe, Graph forward);

}  // namespace monet::training
