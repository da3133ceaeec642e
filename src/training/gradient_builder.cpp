#include "training/gradient_builder.h"

#include "graph/narrow.h"

#include <fmt/format.h>

#include <algorithm>

namespace monet::training {

TensorId sum_parts(OpWriter& writer, std::vector<TensorId>& parts) {
  if (parts.empty()) return {};
  TensorId sum = parts.front();
  for (std::size_t next = 1; next < parts.size();) {
    std::vector<TensorId> inputs = {sum};
    while (next < parts.size() && inputs.size() < most_inputs_at_once) inputs.push_back(parts[next++]);
    sum = writer.add(Op::Sum, std::move(inputs));
  }
  parts = {sum};
  return sum;
}

GradientBuilder::GradientBuilder(GraphBuilder& builder, NodeId node, const Context& context)
    : OpWriter(builder, builder.graph()[node].name + ".grad"),
      const_builder_(builder),
      id_(node),
      node_(builder.graph()[node]),
      context_(context) {
  for (TensorId output : node_.outputs) {
    const bool known = output.valid() && output.index() < context.gradients.size();
    output_gradients_.push_back(known ? sum_parts(*this, context.gradients[output.index()]) : TensorId());
  }
}

bool GradientBuilder::needs(std::size_t input) const {
  if (!has_input(input)) return false;
  const std::size_t index = node_.inputs[input].index();
  return index < context_.needed.size() && context_.needed[index];
}

TensorId GradientBuilder::save(TensorId id, bool kept) {
  context_.saves.push_back({id_, id, kept});
  return id;
}

TensorId GradientBuilder::extra_output(std::size_t i) {
  const TensorId id = builder().want_output(id_, i);
  if (node_.outputs.size() <= i) node_.outputs.resize(i + 1);
  node_.outputs[i] = id;
  output_gradients_.resize(node_.outputs.size());
  return save(id, false);
}

void GradientBuilder::set_forward_attribute(Attr key, AttributeValue value) {
  builder().edit()[id_].attributes.set(key, value);
  node_.attributes.set(key, std::move(value));
}

void GradientBuilder::accumulate(std::size_t input, TensorId gradient) {
  if (!needs(input) || !gradient.valid()) return;
  const TensorId id = node_.inputs[input];
  gradient = cast(sum_to(gradient, shape(id)), type(id));
  context_.gradients[id.index()].push_back(gradient);
}

void GradientBuilder::fail(std::string message, std::string advice) {
  builder().fail({.message = std::move(message),
                  .place = fmt::format("node '{}' ({})", node_.name, name_of(node_.op)),
                  .advice = std::move(advice)});
}

void zero_gradient(GradientBuilder&) {}

GradientRule gradient_rule(Op op) {
  switch (family_of(op)) {
    case OpFamily::elementwise: return elementwise_gradient(op);
    case OpFamily::contraction: return contraction_gradient(op);
    case OpFamily::convolution: return convolution_gradient(op);
    case OpFamily::pool: return pool_gradient(op);
    case OpFamily::reduction: return reduction_gradient(op);
    case OpFamily::softmax: return softmax_gradient(op);
    case OpFamily::norm: return norm_gradient(op);
    case OpFamily::view: return view_gradient(op);
    case OpFamily::movement: return movement_gradient(op);
    case OpFamily::generate: return generate_gradient(op);
    case OpFamily::collective:
    case OpFamily::custom:
    case OpFamily::optimizer: break;
  }
  return nullptr;
}

}  // namespace monet::training
