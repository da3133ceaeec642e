#include "training/differentiate.h"

#include "graph/custom.h"

#include <fmt/format.h>

#include <algorithm>

namespace monet::training {

namespace {

// By tensor: some wanted tensor is behind it, along values that can have gradients.
std::vector<bool> needed_gradients(const Graph& graph, std::span<const TensorId> wanted) {
  std::vector<bool> needed(graph.tensors().size(), false);
  for (TensorId id : wanted) needed[id.index()] = is_floating(graph[id].type.format.element);
  for (const Node& node : graph.nodes()) {
    const bool any = std::ranges::any_of(node.inputs, [&](TensorId id) { return id.valid() && needed[id.index()]; });
    if (!any) continue;
    for (TensorId id : node.outputs) {
      if (id.valid() && is_floating(graph[id].type.format.element)) needed[id.index()] = true;
    }
  }
  return needed;
}

// The wanted tensors that `node` depends on.
std::vector<TensorId> wanted_behind(const Graph& graph, NodeId node, std::span<const TensorId> wanted) {
  std::vector<bool> reached(graph.tensors().size(), false);
  for (TensorId id : graph[node].inputs) {
    if (id.valid()) reached[id.index()] = true;
  }
  for (std::size_t i = node.index(); i-- > 0;) {
    const Node& earlier = graph.nodes()[i];
    const bool used =
        std::ranges::any_of(earlier.outputs, [&](TensorId id) { return id.valid() && reached[id.index()]; });
    if (!used) continue;
    for (TensorId id : earlier.inputs) {
      if (id.valid()) reached[id.index()] = true;
    }
  }
  std::vector<TensorId> behind;
  std::ranges::copy_if(wanted, std::back_inserter(behind), [&](TensorId id) { return reached[id.index()]; });
  return behind;
}

Error not_differentiable(const Graph& graph, NodeId id, std::span<const TensorId> wanted) {
  const std::vector<TensorId> behind = wanted_behind(graph, id, wanted);
  constexpr std::size_t most = 3;
  std::string names;
  for (std::size_t i = 0; i < behind.size() && i < most; ++i) {
    names += fmt::format("{}'{}'", i == 0 ? "" : ", ", graph[behind[i]].name);
  }
  if (behind.size() > most) names += fmt::format(" and {} more", behind.size() - most);
  if (graph[id].op == Op::Custom) {
    return {.message = fmt::format("the custom operator {} has no gradient, and these parameters lie behind it: {}",
                                   operator_type(graph[id]), names),
            .place = fmt::format("node '{}'", graph[id].name),
            .advice =
                "freeze them, look at inference alone (--inference), or export the operator as the standard "
                "operators that it consists of"};
  }
  return {.message = fmt::format("{} cannot be differentiated, and these parameters lie behind it: {}",
                                 name_of(graph[id].op), names),
          .place = fmt::format("node '{}'", graph[id].name),
          .advice = "freeze them, or train on an output that does not depend on this node"};
}

}  // namespace

Expected<Derivatives> differentiate(GraphBuilder& builder, std::span<const Seed> seeds,
                                    std::span<const TensorId> wanted, ConvGradient conv_gradient) {
  builder.set_phase(Phase::backward);
  builder.set_role(Role::gradient);
  const std::vector<bool> needed = needed_gradients(builder.graph(), wanted);
  std::vector<std::vector<TensorId>> gradients(builder.graph().tensors().size());
  Derivatives result;
  for (const Seed& seed : seeds) {
    if (!needed[seed.tensor.index()]) continue;
    OpWriter writer(builder, builder.graph()[seed.tensor].name + ".grad");
    gradients[seed.tensor.index()].push_back(
        seed.gradient.valid() ? seed.gradient : writer.fill(1, writer.shape(seed.tensor), writer.type(seed.tensor)));
  }
  const GradientBuilder::Context context{needed, gradients, result.saves, conv_gradient};
  const std::size_t forward_nodes = [&] {
    std::size_t count = builder.graph().nodes().size();
    while (count > 0 && builder.graph().nodes()[count - 1].phase != Phase::forward) --count;
    return count;
  }();
  for (std::size_t i = forward_nodes; i-- > 0 && !builder.failed();) {
    const Node& node = builder.graph().nodes()[i];
    const bool arrives = std::ranges::any_of(node.outputs, [&](TensorId id) {
      return id.valid() && id.index() < gradients.size() && !gradients[id.index()].empty();
    });
    const bool leads_on =
        std::ranges::any_of(node.inputs, [&](TensorId id) { return id.valid() && needed[id.index()]; });
    if (!arrives || !leads_on) continue;
    const GradientRule rule = gradient_rule(node.op);
    if (rule == nullptr) return not_differentiable(builder.graph(), NodeId(i), wanted);
    GradientBuilder gradient(builder, NodeId(i), context);
    rule(gradient);
  }
  for (TensorId id : wanted) {
    // A tensor that no node makes: its parts have not been summed yet.
    OpWriter writer(builder, builder.graph()[id].name + ".grad");
    std::vector<TensorId>& parts = gradients[id.index()];
    result.gradients.push_back(sum_parts(writer, parts));
  }
  return result;
}

}  // namespace monet::training
