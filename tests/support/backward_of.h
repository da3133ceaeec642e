// One operator with its backward part.
#pragma once

#include "interpret/interpret.h"
#include "training/differentiate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

namespace monet::test {

struct OperatorBackward {
  Graph graph;
  std::vector<TensorId> inputs;
  training::Derivatives derivatives;  // with respect to `wanted`, of the sum of all floating-point outputs
};

inline OperatorBackward backward_of(Op op, const std::vector<TensorType>& types, Attributes attributes,
                                    const std::vector<std::size_t>& wanted, std::size_t outputs = 1) {
  OperatorBackward step;
  GraphBuilder builder("step");
  for (const TensorType& type : types) {
    const std::string name = "input" + std::to_string(step.inputs.size());
    step.inputs.push_back(builder.input(name, type.shape, type.format.element));
  }
  std::vector<training::Seed> seeds;
  for (TensorId id : builder.add_many(op, "node", step.inputs, std::move(attributes), outputs)) {
    builder.rename(id, "output" + std::to_string(seeds.size()));
    builder.output(id);
    seeds.push_back({id, {}});
  }
  std::vector<TensorId> wanted_ids;
  for (std::size_t i : wanted) wanted_ids.push_back(step.inputs[i]);
  auto derivatives = training::differentiate(builder, seeds, wanted_ids, training::ConvGradient::direct);
  EXPECT_TRUE(derivatives.has_value()) << derivatives.error().text();
  if (derivatives) step.derivatives = *std::move(derivatives);
  auto graph = builder.finish();
  EXPECT_TRUE(graph.has_value()) << graph.error().text();
  if (graph) step.graph = *std::move(graph);
  return step;
}

// The tensors of the forward part that the backward part keeps alive: names, sorted, with a space between. Wanted are
// the gradients of the inputs listed; of all inputs where none is.
inline std::string saved(Op op, const std::vector<TensorType>& types, Attributes attributes = {},
                         std::vector<std::size_t> wanted = {}) {
  if (wanted.empty()) {
    wanted.resize(types.size());
    std::iota(wanted.begin(), wanted.end(), std::size_t{0});
  }
  const OperatorBackward step = backward_of(op, types, std::move(attributes), wanted);
  std::set<std::string> names;
  const auto note = [&](TensorId id) {
    const Tensor& tensor = step.graph[id];
    const bool forward = !tensor.producer.valid() || step.graph[tensor.producer].phase == Phase::forward;
    if (forward && tensor.role != Role::constant) names.insert(tensor.name);
  };
  for (const Node& node : step.graph.nodes()) {
    if (node.phase == Phase::backward) std::ranges::for_each(node.inputs, note);
  }
  for (const training::SavedBy& save : step.derivatives.saves) {
    if (save.kept) note(save.tensor);
  }
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : " ") + name;
  return text;
}

// The gradients of the sum of the output with respect to each input, zeros where none arrives.
inline std::vector<Array> slopes_of(Op op, const std::vector<Array>& inputs, const Attributes& attributes) {
  std::vector<TensorType> types;
  std::vector<std::size_t> wanted;
  for (const Array& array : inputs) {
    wanted.push_back(types.size());
    types.push_back({array.shape, {}});
  }
  const OperatorBackward step = backward_of(op, types, attributes, wanted);
  Values values;
  for (std::size_t i = 0; i < inputs.size(); ++i) values.emplace(step.inputs[i], inputs[i]);
  const Status status = run(step.graph, values);
  EXPECT_TRUE(status.has_value()) << status.error().text();
  std::vector<Array> slopes;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const TensorId id = step.derivatives.gradients[i];
    slopes.push_back(id.valid() ? values.at(id) : Array::zeros(inputs[i].shape));
  }
  return slopes;
}

}  // namespace monet::test
