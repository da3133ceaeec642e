#include "parallel/convert.h"

#include "base/require.h"
#include "base/try.h"
#include "parallel/cut.h"

#include <fmt/format.h>

namespace monet::parallel {

double bytes_sent(const Tensor& tensor, const Place& from, const Place& to, std::int64_t chips) {
  if (from == to || from.is_whole()) return 0;
  const auto all = static_cast<double>(bytes(tensor));
  const double share = static_cast<double>(chips - 1) / static_cast<double>(chips);
  if (from.is_partial()) return to.is_whole() ? 2 * share * all : share * all;
  if (to.is_sharded() && to.axis != from.axis) return share * all / static_cast<double>(chips);
  return share * all;
}

StepWriter::StepWriter(const Graph& before, const AxisPlan& plan)
    : before_(before),
      plan_(plan),
      made_(before.tensors().size()),
      at_(before.tensors().size()),
      is_output_(before.tensors().size(), false) {
  result_.graph.name = before.name;
  for (const Tensor& tensor : before.tensors()) names_.insert(tensor.name);
  for (const Node& node : before.nodes()) node_names_.insert(node.name);
  for (TensorId id : before.outputs) is_output_[id.index()] = true;
}

std::string StepWriter::unique(std::string name) {
  std::string result = name;
  for (int i = 2; names_.contains(result) || node_names_.contains(result); ++i) result = fmt::format("{}.{}", name, i);
  names_.insert(result);
  return result;
}

void StepWriter::add_source(TensorId before, const Place& place) {
  Tensor tensor = before_[before];
  tensor.type.shape = local_shape(tensor.type.shape, place, plan_.chips);
  at_[before.index()] = place;
  made_[before.index()] = result_.graph.add_tensor(std::move(tensor));
  if (const Constant* constant = before_.constant(before)) {
    result_.graph.constants.emplace(made_[before.index()], *constant);
  }
}

std::optional<Place> StepWriter::final_place(TensorId before) const {
  const Tensor& tensor = before_[before];
  if (tensor.updates.valid()) return at_[tensor.updates.index()];
  if (const auto found = plan_.settled.find(tensor.name); found != plan_.settled.end()) return found->second;
  if (is_output_[before.index()] && element_count(tensor.type.shape) == 1) return Place{};
  return std::nullopt;
}

StepWriter::Key StepWriter::key(TensorId before, const Place& place, Phase phase) const {
  const bool again = plan_.gathers_again && at_[before.index()].is_sharded() && place.is_whole();
  return {before, place.spread, place.axis, place.blocks, again ? static_cast<int>(phase) : 0};
}

bool StepWriter::is_made(TensorId before, const Place& place, Phase phase) const {
  return at_[before.index()] == place || converted_.contains(key(before, place, phase));
}

Expected<TensorId> StepWriter::as(TensorId before, const Place& wanted, Phase phase) {
  if (at_[before.index()] == wanted) return made_[before.index()];
  const Key at = key(before, wanted, phase);
  if (const auto found = converted_.find(at); found != converted_.end()) return found->second;
  const std::string suffix = wanted.is_whole() ? (at_[before.index()].is_partial() ? "sum" : "whole") : "shard";
  const std::string name = unique(fmt::format("{}.{}.{}", before_[before].name, plan_.axis, suffix));
  MONET_TRY(const TensorId id, converted(before, wanted, phase, name));
  converted_.emplace(at, id);
  return id;
}

TensorId StepWriter::append(Op op, std::vector<TensorId> inputs, TensorType type, Phase phase, const std::string& name,
                            Role role, Attributes attributes) {
  Graph& graph = result_.graph;
  const TensorId output = graph.add_tensor(
      {.name = name, .type = std::move(type), .role = role, .producer = {}, .parameter = false, .updates = {}});
  graph.add_node({.name = unique(fmt::format("{}.{}", name, name_of(op))),
                  .op = op,
                  .phase = phase,
                  .attributes = std::move(attributes),
                  .inputs = std::move(inputs),
                  .outputs = {output}});
  return output;
}

TensorId StepWriter::exchange(Op op, TensorId input, TensorType type, Phase phase, const std::string& name, Role role,
                              Attributes attributes) {
  attributes.set(Attr::mesh, plan_.axis);
  attributes.set(Attr::group, plan_.chips);
  return append(op, {input}, std::move(type), phase, name, role, std::move(attributes));
}

namespace {

using Integers = std::vector<std::int64_t>;

Attributes along(const Place& place) {
  return {{Attr::axes, Integers{static_cast<std::int64_t>(place.axis)}}, {Attr::blocks, Integers{place.blocks}}};
}

// What is sent is neither a weight nor a state, though its values are.
Role role_of_copy(Role role) {
  switch (role) {
    case Role::weight:
    case Role::master_weight:
    case Role::optimizer_state:
    case Role::statistic:
    case Role::constant:
    case Role::input: return Role::workspace;
    default: return role;
  }
}

}  // namespace

Expected<TensorId> StepWriter::converted(TensorId before, const Place& to, Phase phase, std::string name) {
  const Tensor& tensor = before_[before];
  const Place& from = at_[before.index()];
  const TensorId input = made_[before.index()];
  const Role role = role_of_copy(tensor.role);
  TensorType type = tensor.type;
  type.shape = local_shape(type.shape, to, plan_.chips);
  if (from.is_whole()) {
    MONET_REQUIRE(to.is_sharded());
    if (const auto local = made_locally(before, to, phase, name)) return *local;
    return own_pieces(before, to, phase, name);
  }
  if (from.is_partial() && to.is_whole()) {
    return exchange(Op::AllReduce, input, std::move(type), phase, name, role,
                    {{Attr::reduction, std::string(parallel::name_of(from.reduction))}});
  }
  if (from.is_partial()) {
    MONET_REQUIRE(to.is_sharded());
    if (from.reduction != Reduction::sum) {
      return Error{.message = fmt::format("'{}' is a maximum or minimum over chips and cannot be {}", tensor.name,
                                          to_string(to)),
                   .place = {},
                   .advice = {}};
    }
    return exchange(Op::ReduceScatter, input, std::move(type), phase, name, role, along(to));
  }
  MONET_REQUIRE(!to.is_partial());
  if (const auto view = to.is_whole() ? viewed(before, phase, name) : std::nullopt) return *view;
  if (to.is_whole()) return exchange(Op::AllGather, input, std::move(type), phase, name, role, along(from));
  if (from.axis != to.axis) {
    return exchange(Op::AllToAll, input, std::move(type), phase, name, role,
                    {{Attr::axes, Integers{static_cast<std::int64_t>(from.axis), static_cast<std::int64_t>(to.axis)}},
                     {Attr::blocks, Integers{from.blocks, to.blocks}}});
  }
  // Other pieces of the same axis: by way of the whole.
  MONET_TRY(const TensorId whole, as(before, Place{}, phase));
  const TensorId kept = std::exchange(made_[before.index()], whole);
  const Place kept_at = std::exchange(at_[before.index()], Place{});
  auto result = own_pieces(before, to, phase, name);
  made_[before.index()] = kept;
  at_[before.index()] = kept_at;
  return result;
}

// A view of what is whole already is sent no second time.
std::optional<TensorId> StepWriter::viewed(TensorId before, Phase phase, const std::string& name) {
  const Tensor& tensor = before_[before];
  if (!tensor.producer.valid()) return std::nullopt;
  const Node& node = before_[tensor.producer];
  if (node.op != Op::Reshape && node.op != Op::Transpose && node.op != Op::Identity) return std::nullopt;
  if (!is_made(node.inputs[0], {}, phase)) return std::nullopt;
  const auto source = as(node.inputs[0], {}, phase);
  if (!source) return std::nullopt;
  return append(node.op, {*source}, tensor.type, phase, name, role_of_copy(tensor.role), node.attributes);
}

// What has one value everywhere along the axis, or is repeated there, is made as small as it is needed.
std::optional<TensorId> StepWriter::made_locally(TensorId before, const Place& to, Phase phase,
                                                 const std::string& name) {
  const Tensor& tensor = before_[before];
  TensorType type = tensor.type;
  type.shape = local_shape(type.shape, to, plan_.chips);
  if (const Constant* constant = before_.constant(before)) {
    const bool outside_band = constant->pattern == Constant::Pattern::banded && to.axis + 2 < type.shape.size();
    if (constant->pattern != Constant::Pattern::uniform && !outside_band) return std::nullopt;
    Constant local = *constant;
    local.shape = type.shape;
    const TensorId id = result_.graph.add_tensor(
        {.name = name, .type = type, .role = Role::constant, .producer = {}, .parameter = false, .updates = {}});
    result_.graph.constants.emplace(id, std::move(local));
    return id;
  }
  if (!tensor.producer.valid()) return std::nullopt;
  const Node& node = before_[tensor.producer];
  if (node.op == Op::Range && !node.attributes.has(Attr::mesh)) {
    Attributes attributes = node.attributes;
    set_own_places(attributes, plan_.chips, to.blocks);
    attributes.set(Attr::mesh, plan_.axis);
    attributes.set(Attr::shape, type.shape);
    return append(node.op, {}, type, phase, name, tensor.role, std::move(attributes));
  }
  const bool fills = node.op == Op::Fill;
  if (!fills && node.op != Op::Expand) return std::nullopt;
  std::vector<TensorId> inputs;
  if (!fills) {
    const Shape& from = before_[node.inputs[0]].type.shape;
    const std::size_t lead = tensor.type.shape.size() - from.size();
    const bool repeats = to.axis < lead || from[to.axis - lead] != tensor.type.shape[to.axis];
    if (!repeats || !at_[node.inputs[0].index()].is_whole()) return std::nullopt;
    inputs.push_back(made_[node.inputs[0].index()]);
  }
  Attributes attributes = node.attributes;
  attributes.set(Attr::shape, type.shape);
  return append(node.op, std::move(inputs), type, phase, name, tensor.role, std::move(attributes));
}

Expected<TensorId> StepWriter::own_pieces(TensorId before, const Place& to, Phase phase, const std::string& name) {
  const Tensor& tensor = before_[before];
  const Role role = role_of_copy(tensor.role);
  const auto typed = [&](Shape shape) { return TensorType{std::move(shape), tensor.type.format}; };
  TensorId source = made_[before.index()];
  Shape shape = tensor.type.shape;
  std::size_t axis = to.axis;
  const Shape target = local_shape(shape, to, plan_.chips);
  const bool blocks = to.blocks > 1;
  if (blocks) {
    shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), to.blocks);
    ++axis;
    shape[axis] /= to.blocks;
    source = append(Op::Reshape, {source}, typed(shape), phase, unique(name + ".blocks"), role, {{Attr::shape, shape}});
  }
  shape[axis] /= plan_.chips;
  source = append(Op::Slice, {source}, typed(shape), phase, blocks ? unique(name + ".own") : name, role,
                  {{Attr::axes, Integers{static_cast<std::int64_t>(axis)}},
                   {Attr::starts, Integers{0}},
                   {Attr::steps, Integers{1}},
                   {Attr::shape, shape},
                   {Attr::mesh, plan_.axis},
                   {Attr::group, plan_.chips}});
  if (!blocks) return source;
  return append(Op::Reshape, {source}, typed(target), phase, name, role, {{Attr::shape, target}});
}

Status StepWriter::add_node(const Node& node, const Cut& cut) {
  Node local = node;
  local.attributes = cut.attributes;
  if (local.attributes.has(Attr::mesh) && local.attributes.text(Attr::mesh).empty())
    local.attributes.set(Attr::mesh, plan_.axis);
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    if (!node.inputs[i].valid()) continue;
    MONET_TRY(local.inputs[i], as(node.inputs[i], cut.inputs[i], node.phase));
  }
  std::vector<std::size_t> moved;  // outputs that go elsewhere at once
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    const TensorId id = node.outputs[i];
    if (!id.valid()) continue;
    const auto wanted = final_place(id);
    Tensor tensor = before_[id];
    tensor.type.shape = local_shape(tensor.type.shape, cut.outputs[i], plan_.chips);
    if (tensor.updates.valid()) tensor.updates = made_[tensor.updates.index()];
    if (wanted && *wanted != cut.outputs[i]) {
      moved.push_back(i);
      tensor.name = unique(fmt::format("{}.{}.part", tensor.name, plan_.axis));
      tensor.updates = {};
    }
    at_[id.index()] = cut.outputs[i];
    local.outputs[i] = made_[id.index()] = result_.graph.add_tensor(std::move(tensor));
  }
  result_.graph.add_node(std::move(local));
  for (std::size_t i : moved) {
    const TensorId id = node.outputs[i];
    const Place to = *final_place(id);
    const Tensor& tensor = before_[id];
    MONET_TRY(const TensorId there, converted(id, to, node.phase, tensor.name));
    result_.graph[there].role = tensor.role;
    if (tensor.updates.valid()) result_.graph[there].updates = made_[tensor.updates.index()];
    made_[id.index()] = there;
    at_[id.index()] = to;
  }
  return Done{};
}

AxisResult StepWriter::finish() {
  const auto now = [&](const std::vector<TensorId>& ids) {
    std::vector<TensorId> result;
    for (TensorId id : ids) result.push_back(made_[id.index()]);
    return result;
  };
  result_.graph.inputs = now(before_.inputs);
  result_.graph.outputs = now(before_.outputs);
  for (std::size_t i = 0; i < at_.size(); ++i) {
    if (made_[i].valid()) result_.places.emplace(before_.tensors()[i].name, at_[i]);
  }
  return std::move(result_);
}

}  // namespace monet::parallel
