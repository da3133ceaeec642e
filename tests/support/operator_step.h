// One operator and its backward part, for questions about what the backward part consists of.
#pragma once

#include "base/try.h"
#include "graph/nests.h"
#include "graph/verify.h"
#include "training/differentiate.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace monet::test {

struct OperatorStep {
  Graph graph;
  std::vector<TensorId> inputs;     // of the operator
  std::vector<TensorId> gradients;  // of the inputs that are wanted, in order
  std::vector<TensorId> kept;

  std::int64_t count(Op op) const { return std::ranges::count(graph.nodes(), op, &Node::op); }
  // MACs of each node of a phase that has any, in order.
  std::vector<std::int64_t> macs(Phase phase) const {
    std::vector<std::int64_t> result;
    for (const Node& node : graph.nodes()) {
      const auto counts = operation_counts(nests_of(site_of(graph, node)));
      EXPECT_TRUE(counts.has_value());
      if (node.phase == phase && counts && (*counts)[Count::mac] != 0) result.push_back((*counts)[Count::mac]);
    }
    return result;
  }
};

// `wanted`: the inputs that are differentiated with respect to.
inline Expected<OperatorStep> operator_step(Op op, const std::vector<TensorType>& inputs, Attributes attributes,
                                            const std::vector<std::size_t>& wanted,
                                            training::ConvGradient conv_gradient = training::ConvGradient::direct) {
  OperatorStep step;
  GraphBuilder builder("step");
  for (const TensorType& type : inputs) {
    step.inputs.push_back(builder.input("input" + std::to_string(step.inputs.size()), type.shape, type.format.element));
  }
  const TensorId output = builder.add(op, "node", step.inputs, std::move(attributes));
  std::vector<TensorId> ids;
  for (std::size_t i : wanted) ids.push_back(step.inputs[i]);
  const std::vector<training::Seed> seeds = {{output, {}}};
  MONET_TRY(const training::Derivatives derivatives, training::differentiate(builder, seeds, ids, conv_gradient));
  step.gradients = derivatives.gradients;
  for (const training::SavedBy& save : derivatives.saves) {
    if (save.kept) step.kept.push_back(save.tensor);
  }
  MONET_TRY(step.graph, builder.finish());
  MONET_RETURN_IF_ERROR(verify(step.graph));
  return step;
}

}  // namespace monet::test
