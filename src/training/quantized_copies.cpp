#include "training/quantized_copies.h"

#include "base/checked.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace monet::training {

namespace {

Role role_of(OperandClass kind) {
  switch (kind) {
    case OperandClass::weight: return Role::weight;
    case OperandClass::activation: return Role::activation;
    case OperandClass::gradient: break;
  }
  return Role::gradient;
}

// "X.mxfp8_e4m3@1": the axis where a tensor may have copies with groups along several.
std::string copy_name(const Tensor& tensor, const std::string& format_name, const Format& format) {
  std::string name = fmt::format("{}.{}", tensor.name, format_name);
  const bool by_axis = format.is_scaled() && (format.grouping == Grouping::channel ||
                                              (format.grouping == Grouping::block && format.group_rows == 1));
  if (by_axis) name += fmt::format("@{}", *normalized_axis(format.group_axis, tensor.type.shape.size()));
  return name;
}

}  // namespace

std::int64_t padding_bytes(const TensorType& type) {
  const Shape padded = padded_shape(type.shape, type.format);
  if (padded == type.shape) return 0;
  // Of whole groups: every element has its share of the scales.
  const double unpadded = static_cast<double>(element_count(type.shape)) * stored_bits(type.format) / 8;
  return bytes(type.shape, type.format) - static_cast<std::int64_t>(std::ceil(unpadded));
}

TensorId QuantizedCopies::operand(std::size_t node, const Source& source, const OperandFormat& wanted,
                                  OperandClass kind, bool any_groups) {
  const Copy copy = copy_of(node, source, wanted, kind, any_groups);
  return view_of(copy, source);
}

QuantizedCopies::Copy QuantizedCopies::copy_of(std::size_t node, const Source& source, const OperandFormat& wanted,
                                               OperandClass kind, bool any_groups) {
  const Phase part = copies_ == Copies::requantized ? graph_.graph().nodes()[node].phase : Phase::forward;
  first_use_.try_emplace(source.tensor, node);
  const auto by_name = std::tuple(source.tensor, wanted.number.name, part);
  if (any_groups) {
    if (const auto found = first_made_.find(by_name); found != first_made_.end()) return found->second;
  }
  const auto [entry, fresh] = made_.try_emplace(Key(source.tensor, to_string(source.format), wanted.rounding, part));
  if (fresh) {
    entry->second = make(node, source, wanted, kind);
    first_made_.try_emplace(by_name, entry->second);
  }
  return entry->second;
}

QuantizedCopies::Copy QuantizedCopies::make(std::size_t node, const Source& source, const OperandFormat& wanted,
                                            OperandClass kind) {
  const Graph& graph = graph_.graph();
  const Tensor tensor = graph[source.tensor];
  std::size_t before = node;
  if (copies_ == Copies::stored) {
    before = tensor.producer.valid() ? tensor.producer.index() + 1 : first_use_.at(source.tensor);
  }
  const Phase phase =
      copies_ == Copies::stored && tensor.producer.valid() ? graph[tensor.producer].phase : graph.nodes()[before].phase;
  const std::string name = copy_name(tensor, wanted.number.name, source.format);
  const TensorId copy = graph_.add_tensor(name, {tensor.type.shape, source.format}, role_of(kind));
  Attributes attributes = {{Attr::format, to_string(source.format)}};
  if (wanted.rounding == Rounding::stochastic) attributes.set(Attr::mode, std::string("stochastic"));
  graph_.add(before, {.name = name,
                      .op = Op::Quantize,
                      .phase = phase,
                      .attributes = std::move(attributes),
                      .inputs = {source.tensor},
                      .outputs = {copy}});
  if (kind == OperandClass::weight && !tensor.producer.valid()) masters_[source.tensor].push_back(copy);
  count(kind, copy);
  return {copy, before, phase};
}

// The views of the operand, on the copy.
TensorId QuantizedCopies::view_of(const Copy& copy, const Source& source) {
  TensorId now = copy.tensor;
  std::size_t before = copy.before;
  const bool as_wanted = graph_.graph()[copy.tensor].type.format == source.format;
  for (const NodeId id : source.views) {
    const Node view = graph_.graph()[id];
    before = std::max(before, id.index() + 1);
    const auto [entry, fresh] = views_.try_emplace({now, id});
    if (fresh) {
      const Tensor& from = graph_.graph()[now];
      const std::string name = fmt::format("{}.{}", from.name, name_of(view.op));
      const Format format =
          as_wanted && id == source.views.back() ? source.seen : seen_through(graph_.graph(), view, from.type.format);
      const TensorType type{graph_.graph()[view.outputs[0]].type.shape, format};
      entry->second = graph_.add_tensor(name, type, from.role);
      graph_.add(before, {.name = name,
                          .op = view.op,
                          .phase = std::max(view.phase, copy.phase),
                          .attributes = view.attributes,
                          .inputs = {now},
                          .outputs = {entry->second}});
    }
    now = entry->second;
  }
  return now;
}

void QuantizedCopies::store_fixed_weights() {
  const Graph& graph = graph_.graph();
  const std::vector<std::int64_t> readers = graph_.readers();
  std::set<TensorId> others(graph.outputs.begin(), graph.outputs.end());
  for (const Tensor& tensor : graph.tensors()) others.insert(tensor.updates);
  std::map<TensorId, TensorId> instead;  // of a copy
  QuantizedClass& summary = summaries_[static_cast<std::size_t>(OperandClass::weight)];
  const auto is_fixed = [&](const auto& entry) {
    const auto& [weight, copies] = entry;
    return !others.contains(weight) && graph.constant(weight) == nullptr &&
           readers[weight.index()] == std::ssize(copies);
  };
  for (const auto& entry : masters_) {
    if (!is_fixed(entry)) continue;
    const auto& [weight, copies] = entry;
    std::map<std::string, TensorId> stored = {{to_string(graph[copies.front()].type.format), weight}};
    for (const TensorId copy : copies) {
      const TensorType& type = graph[copy].type;
      const TensorId as = stored.try_emplace(to_string(type.format), copy).first->second;
      instead.emplace(copy, as);
      summary.elements -= element_count(type.shape);
      if (as != copy) summary.copies -= 1;
      if (as == copy || copy == copies.front()) continue;
      summary.bytes -= bytes(type.shape, type.format);  // it is there already
      summary.padding_bytes -= padding_bytes(type);
    }
    Tensor& tensor = graph_.edit()[weight];
    tensor.type.format = graph[copies.front()].type.format;
    tensor.role = Role::weight;
  }
  graph_.take_back(instead);
  std::erase_if(masters_, [&](const auto& entry) { return instead.contains(entry.second.front()); });
}

void QuantizedCopies::count(OperandClass kind, TensorId copy) {
  const TensorType& type = graph_.graph()[copy].type;
  QuantizedClass& summary = summaries_[static_cast<std::size_t>(kind)];
  summary.copies += 1;
  summary.elements += element_count(type.shape);
  summary.bytes += bytes(type.shape, type.format);
  summary.padding_bytes += padding_bytes(type);
}

const QuantizedClass& QuantizedCopies::summary(OperandClass kind) {
  QuantizedClass& result = summaries_[static_cast<std::size_t>(kind)];
  result.tensors = static_cast<std::int64_t>(read_[static_cast<std::size_t>(kind)].size());
  return result;
}

}  // namespace monet::training
