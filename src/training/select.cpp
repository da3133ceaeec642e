#include "training/select.h"

#include "base/glob.h"
#include "base/suggest.h"
#include "base/try.h"

#include <fmt/format.h>

#include <algorithm>

namespace monet::training {

namespace {

using Chosen = std::vector<bool>;  // by tensor

std::vector<std::string> parameter_names(const Graph& graph) {
  std::vector<std::string> names;
  for (const Tensor& tensor : graph.tensors()) {
    if (tensor.parameter) names.push_back(tensor.name);
  }
  return names;
}

Expected<Chosen> matching(const Graph& graph, const std::vector<std::string>& patterns, const char* option) {
  Chosen chosen(graph.tensors().size(), false);
  for (const std::string& pattern : patterns) {
    bool any = false;
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      const Tensor& tensor = graph.tensors()[i];
      if (!tensor.parameter || !matches(pattern, tensor.name)) continue;
      chosen[i] = any = true;
    }
    if (any) continue;
    const std::vector<std::string> names = parameter_names(graph);
    const std::string guess = nearest(pattern, names);
    std::string advice = "quote patterns, as in 'layer4.*'; monet train --parameters lists the names";
    if (!guess.empty()) advice = fmt::format("did you mean '{}'?", guess);
    const auto other = std::ranges::find_if(graph.tensors(), [&](const Tensor& tensor) {
      return !tensor.producer.valid() && is_floating(tensor.type.format.element) && matches(pattern, tensor.name);
    });
    if (other != graph.tensors().end()) {
      advice = fmt::format("'{0}' is read as data; --parameter '{0}' says that it is trained", other->name);
    }
    return Error{
        .message = fmt::format("no parameter matches '{}'", pattern), .place = option, .advice = std::move(advice)};
  }
  return chosen;
}

// The tensor itself, or the parameter that views and casts carry to this place.
TensorId carried(const Graph& graph, TensorId id) {
  while (id.valid() && graph[id].producer.valid()) {
    const Node& node = graph[graph[id].producer];
    if (family_of(node.op) != OpFamily::view && node.op != Op::Cast) break;
    id = node.inputs[0];
  }
  return id;
}

// Where each operator adds a parameter to what it computes.
Chosen biases(const Graph& graph) {
  Chosen bias(graph.tensors().size(), false);
  const auto mark = [&](const Node& node, std::size_t input) {
    if (input >= node.inputs.size() || !node.inputs[input].valid()) return;
    const TensorId id = carried(graph, node.inputs[input]);
    if (graph[id].parameter) bias[id.index()] = true;
  };
  Chosen otherwise(graph.tensors().size(), false);
  for (const Node& node : graph.nodes()) {
    const bool is_sum = node.op == Op::Add || node.op == Op::Sub || node.op == Op::Sum;
    const bool third = node.op == Op::Conv || node.op == Op::ConvTranspose || node.op == Op::Gemm ||
                       family_of(node.op) == OpFamily::norm;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (is_sum || (third && i == 2)) {
        mark(node, i);
      } else if (family_of(node.op) != OpFamily::view && node.op != Op::Cast && node.inputs[i].valid()) {
        otherwise[carried(graph, node.inputs[i]).index()] = true;
      }
    }
  }
  for (std::size_t i = 0; i < bias.size(); ++i) bias[i] = bias[i] && !otherwise[i];
  return bias;
}

// A layer is an operator that reads parameters, with those that only add a bias to it.
Chosen of_last_layers(const Graph& graph, std::int64_t count) {
  const Chosen bias = biases(graph);
  Chosen chosen(graph.tensors().size(), false);
  std::int64_t layers = 0;
  for (std::size_t i = graph.nodes().size(); i-- > 0 && layers < count;) {
    bool has_weight = false;
    for (TensorId id : graph.nodes()[i].inputs) {
      id = id.valid() ? carried(graph, id) : id;
      if (!id.valid() || !graph[id].parameter) continue;
      chosen[id.index()] = true;
      has_weight = has_weight || !bias[id.index()];
    }
    if (has_weight && family_of(graph.nodes()[i].op) != OpFamily::view) ++layers;
  }
  return chosen;
}

}  // namespace

Expected<std::vector<TensorId>> select_trained(const Graph& graph, const SelectOptions& options) {
  if (options.last_layers && *options.last_layers < 1) {
    return Error{.message = fmt::format("the last {} layers are none", *options.last_layers),
                 .place = "--last-layers",
                 .advice = "give a number of at least 1"};
  }
  MONET_TRY(const Chosen trained, matching(graph, options.train, "--train"));
  MONET_TRY(const Chosen frozen, matching(graph, options.freeze, "--freeze"));
  const Chosen bias = options.bias_only ? biases(graph) : Chosen();
  const Chosen last = options.last_layers ? of_last_layers(graph, *options.last_layers) : Chosen();
  std::vector<TensorId> result;
  bool any_parameter = false;
  for (std::size_t i = 0; i < graph.tensors().size(); ++i) {
    if (!graph.tensors()[i].parameter) continue;
    any_parameter = true;
    if (!options.train.empty() && !trained[i]) continue;
    if (frozen[i] || (options.bias_only && !bias[i]) || (options.last_layers && !last[i])) continue;
    result.push_back(TensorId(i));
  }
  if (!result.empty()) return result;
  if (!any_parameter) {
    return Error{.message = "nothing is trainable: the network has no parameters",
                 .place = graph.name,
                 .advice = "monet inspect shows what was read as weights and what as data"};
  }
  return Error{.message = "nothing is trainable: every parameter is frozen",
               .place = graph.name,
               .advice = "freeze less, or let --train name what to train"};
}

}  // namespace monet::training
