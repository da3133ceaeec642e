#include "parallel/input_places.h"

#include "parallel/cut.h"

namespace monet::parallel {

std::vector<TensorId> batched_inputs(const Graph& step) {
  std::vector<TensorId> result;
  for (TensorId id : step.inputs) {
    const Shape& shape = step[id].type.shape;
    if (shape.empty()) continue;
    if (!result.empty() && shape[0] != step[result[0]].type.shape[0]) continue;
    result.push_back(id);
  }
  return result;
}

Places places_from_inputs(const Graph& step, const AxisPlan& plan) {
  std::vector<std::optional<Place>> at(step.tensors().size());
  for (TensorId id : step.inputs) {
    const auto found = plan.stored.find(step[id].name);
    if (found != plan.stored.end()) at[id.index()] = found->second;
  }
  const auto join = [&](const Node& node, const Cut& own) {
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const TensorId id = node.inputs[i];
      if (id.valid() && own.inputs[i].is_sharded() && !at[id.index()]) at[id.index()] = own.inputs[i];
    }
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      const TensorId id = node.outputs[i];
      if (id.valid() && own.outputs[i].is_sharded() && !at[id.index()]) at[id.index()] = own.outputs[i];
    }
  };
  const auto look = [&](const Node& node, const std::vector<TensorId>& ids, bool output) {
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (!ids[i].valid() || !at[ids[i].index()]) continue;
      const auto own = cut(step, node, plan.chips, {.output = output, .operand = i, .place = *at[ids[i].index()]});
      if (own) join(node, *own);
      return;
    }
  };
  for (const Node& node : step.nodes()) look(node, node.inputs, false);
  for (std::size_t i = step.nodes().size(); i-- > 0;) {
    const Node& node = step.nodes()[i];
    if (family_of(node.op) != OpFamily::view) look(node, node.outputs, true);
  }
  Places places;
  for (std::size_t i = 0; i < at.size(); ++i) {
    if (at[i] && step.tensors()[i].producer.valid()) places.emplace(step.tensors()[i].name, *at[i]);
  }
  return places;
}

}  // namespace monet::parallel
