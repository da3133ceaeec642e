// Group norm as PyTorch's exporters write it: an instance norm over groups of channels, with a scale of 1 and a bias of
// 0, between two reshapes, and then the scale and bias of the channels:
//   reshape(instance-norm(reshape(x, [N, groups, …]), 1, 0), shape of x) [· scale] [+ bias]
#include "onnx/idioms/match.h"

#include <algorithm>

namespace monet::onnx {

namespace {

bool is_uniformly(const Graph& graph, TensorId id, double value) {
  const Constant* known = graph.constant(id);
  return known != nullptr && known->is_uniformly(value);
}

// The value per channel that the reader `op` of the root combines it with, [C, 1, …] against [N, C, …]; the root moves
// on to that reader.
TensorId take_per_channel(Matcher& matcher, Op op) {
  const auto combined = matcher.root_combined_by(op);
  if (!combined) return {};
  const Shape& full = matcher.shape(matcher.graph()[matcher.root()].outputs[0]);
  Shape spread(full.size() - 1, 1);
  spread[0] = full[1];
  Shape actual = matcher.shape(combined->other);
  if (actual.size() == full.size() && actual[0] == 1) actual.erase(actual.begin());
  if (actual != spread) return {};
  matcher.extend(combined->reader);
  return combined->other;
}

// [C] from [C, 1, …]: what was reshaped to it, else a reshape of it. Without a tensor: `value` for each channel.
TensorId per_channel(Matcher& matcher, TensorId spread, const std::string& name, TensorType type, double value) {
  Graph& graph = matcher.graph();
  if (spread.valid()) {
    const Node* view = matcher.made_by(spread, Op::Reshape);
    if (view != nullptr && matcher.shape(view->inputs[0]) == type.shape) return view->inputs[0];
    if (matcher.shape(spread) == type.shape) return spread;
  }
  const TensorId id = graph.add_tensor({.name = name,
                                        .type = type,
                                        .role = spread.valid() ? Role::activation : Role::constant,
                                        .producer = {},
                                        .parameter = false,
                                        .updates = {}});
  if (spread.valid()) {
    matcher.before.push_back({.name = name,
                              .op = Op::Reshape,
                              .phase = Phase::forward,
                              .attributes = {{Attr::shape, type.shape}},
                              .inputs = {spread},
                              .outputs = {id}});
  } else {
    Constant fill = Constant::reals(type.format.element, type.shape, {value});
    fill.pattern = Constant::Pattern::uniform;
    graph.constants.emplace(id, std::move(fill));
  }
  return id;
}

}  // namespace

std::optional<Match> match_group_norm(Matcher& matcher, NodeId id) {
  // By value: the graph grows below.
  const Node norm = matcher.graph()[id];
  if (norm.op != Op::InstanceNormalization) return std::nullopt;
  if (!is_uniformly(matcher.graph(), norm.inputs[1], 1) || !is_uniformly(matcher.graph(), norm.inputs[2], 0))
    return std::nullopt;
  matcher.begin(id);
  const Node* grouped = matcher.made_by(norm.inputs[0], Op::Reshape);
  if (grouped == nullptr) return std::nullopt;
  const TensorId x = grouped->inputs[0];
  const Shape full = matcher.shape(x);
  const Shape groups = matcher.shape(norm.inputs[0]);
  if (full.size() < 2 || groups[0] != full[0] || groups[1] < 1 || full[1] % groups[1] != 0) return std::nullopt;
  const auto back = matcher.only_reader(norm.outputs[0]);
  if (!back || matcher.graph()[*back].op != Op::Reshape || matcher.shape(matcher.graph()[*back].outputs[0]) != full)
    return std::nullopt;
  matcher.extend(*back);
  const TensorId scale = take_per_channel(matcher, Op::Mul);
  const TensorId bias = scale.valid() ? take_per_channel(matcher, Op::Add) : TensorId();
  const TensorType type{{full[1]}, matcher.graph()[x].type.format};
  std::vector<TensorId> inputs = {x, per_channel(matcher, scale, matcher.unused_name(norm.name + "/scale"), type, 1),
                                  per_channel(matcher, bias, matcher.unused_name(norm.name + "/bias"), type, 0)};
  return matcher.finish(Op::GroupNormalization, std::move(inputs),
                        {{Attr::num_groups, groups[1]}, {Attr::epsilon, norm.attributes.real(Attr::epsilon)}});
}

}  // namespace monet::onnx
