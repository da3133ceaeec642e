#include "onnx/node_export.h"

#include "graph/custom.h"
#include "onnx/own_notes.h"

#include <algorithm>

namespace monet::onnx {

Text FileExport::constant(const Constant& value) {
  const std::string data = raw_data(value);
  const std::string key = fmt::format("{}:{}:{}", name_of(value.type), to_string(value.shape), data);
  const auto [entry, is_new] = constants.try_emplace(key);
  if (is_new) {
    // Readable where it is short.
    constexpr std::int64_t most_named = 8;
    const std::int64_t count = element_count(value.shape);
    std::vector<std::string> words;
    for (std::int64_t i = 0; i < std::min(count, most_named); ++i) words.push_back(fmt::format("{}", value.real_at(i)));
    if (count > most_named) words.emplace_back("...");
    entry->second = names.fresh(fmt::format("{}:[{}]", name_of(value.type), fmt::join(words, ",")));
    encoder.initializer(entry->second, value);
  }
  return entry->second;
}

std::vector<Text> NodeExport::inputs() const {
  std::vector<Text> names;
  for (std::size_t i = 0; i < node_.inputs.size(); ++i) names.push_back(input(i));
  return names;
}

Text NodeExport::integers(std::vector<std::int64_t> values) {
  const auto count = static_cast<std::int64_t>(values.size());
  return constant(Constant::integers(ElementType::int64, {count}, std::move(values)));
}

Text NodeExport::integer(std::int64_t value) { return constant(Constant::integers(ElementType::int64, {}, {value})); }

Text NodeExport::scalar(ElementType type, double value) {
  return constant(Constant::reals(type, {}, {value}));  // written as what the type says
}

Metadata NodeExport::metadata() const {
  Metadata metadata = {{phase_key, name_of(node_.phase)}};
  if (node_.recomputed) metadata.emplace_back(recomputed_key, "true");
  return metadata;
}

void NodeExport::emit(Text op_type, std::vector<Text> inputs, OnnxAttributes attributes, std::size_t least_outputs,
                      Text domain) {
  while (!inputs.empty() && inputs.back().empty()) inputs.pop_back();
  std::vector<Text> outputs;
  std::size_t wanted = node_.outputs.size();
  while (!node_.outputs[wanted - 1].valid()) --wanted;
  for (std::size_t i = 0; i < std::max(wanted, least_outputs); ++i) {
    const bool made = i < node_.outputs.size() && node_.outputs[i].valid();
    if (made) {
      outputs.push_back(file_.names[node_.outputs[i]]);
    } else {
      outputs.push_back(i < least_outputs ? file_.names.fresh(fmt::format("{}.unused{}", node_.name, i)) : Text());
    }
  }
  file_.encoder.node(
      {op_type, node_.name, std::move(inputs), std::move(outputs), std::move(attributes), metadata(), domain});
}

Text NodeExport::make(Text op_type, std::vector<Text> inputs, OnnxAttributes attributes, Shape shape,
                      ElementType type) {
  const Text name = file_.names.fresh(fmt::format("{}/{}", node_.name, op_type));
  const Text output = file_.names.fresh(fmt::format("{}.out", name));
  file_.encoder.node({op_type, name, std::move(inputs), {output}, std::move(attributes), metadata()});
  file_.encoder.inner_value(output, {std::move(shape), {.element = type}}, {});
  return output;
}

namespace {

// A size of 0 would say "as in the input".
OnnxAttributes reshape_attributes(const Shape& to) {
  if (std::ranges::find(to, 0) == to.end()) return {};
  return {{"allowzero", std::int64_t{1}}};
}

}  // namespace

Text NodeExport::reshaped(Text tensor, const Shape& from, const Shape& to, ElementType type) {
  return from == to ? tensor : make("Reshape", {tensor, integers(to)}, reshape_attributes(to), to, type);
}

void NodeExport::emit_reshape(Text tensor) {
  emit("Reshape", {tensor, integers(output_shape())}, reshape_attributes(output_shape()));
}

Text NodeExport::cast(Text tensor, const Shape& shape, ElementType from, ElementType to) {
  return from == to ? tensor : make("Cast", {tensor}, {{"to", std::int64_t{onnx_number(to)}}}, shape, to);
}

void NodeExport::emit_cast(Text tensor) { emit("Cast", {tensor}, {{"to", std::int64_t{onnx_number(output_type())}}}); }

OnnxAttributes same_attributes(const Attributes& attributes, std::initializer_list<Attr> omitted) {
  OnnxAttributes result;
  for (const auto& [key, value] : attributes) {
    if (std::ranges::find(omitted, key) != omitted.end()) continue;
    result.push_back({name_of(key), std::visit([](const auto& held) { return OnnxValue(held); }, value)});
  }
  return result;
}

void export_as_is(NodeExport& node) {
  node.emit(name_of(node.op()), node.inputs(), same_attributes(node.attributes()));
}

namespace {

// As the file had it.
void export_custom(NodeExport& node) {
  const CustomOperator custom = custom_operator(node.attributes());
  OnnxAttributes attributes;
  for (const auto& [name, value] : custom.attributes) {
    attributes.push_back({name, std::visit([](const auto& held) { return OnnxValue(held); }, value)});
  }
  node.emit(custom.type, node.inputs(), std::move(attributes), 1, custom.domain);
}

// ONNX has no collectives: they stand in a domain of their own.
void export_collective(NodeExport& node) {
  node.emit(name_of(node.op()), node.inputs(), same_attributes(node.attributes()), 1, "monet.collective");
}

template <class Predicate>
bool any_type(const Graph& graph, const Node& node, Predicate holds) {
  const auto fits = [&](TensorId id) { return id.valid() && holds(graph[id].type.format.element); };
  return std::ranges::any_of(node.inputs, fits) || std::ranges::any_of(node.outputs, fits);
}

// Types that ONNX stores and converts and does not calculate with.
bool is_storage_type(ElementType type) { return bits_of(type) < 8 || (is_floating(type) && bits_of(type) == 8); }

bool takes_storage_types(Op op) {
  switch (op) {
    case Op::Cast:
    case Op::DequantizeLinear:
    case Op::Fill:
    case Op::Identity:
    case Op::Pad:
    case Op::Quantize:
    case Op::QuantizeLinear:
    case Op::Reshape:
    case Op::Transpose: return true;
    default: return false;
  }
}

// Operators that ONNX has for some floating-point types only: the shorter ones go through single precision.
bool lacks(Op op, ElementType type) {
  switch (op) {
    case Op::Celu: return type == ElementType::bfloat16 || type == ElementType::float16;
    case Op::Einsum:
    case Op::ReverseSequence:
    case Op::Shrink: return type == ElementType::bfloat16;
    default: return false;
  }
}

void in_single_precision(NodeExport& node) {
  std::vector<Text> inputs;
  for (std::size_t i = 0; i < node.input_count(); ++i) {
    const ElementType type = is_floating(node.type(i)) ? ElementType::float32 : node.type(i);
    inputs.push_back(node.cast(node.input(i), node.shape(i), node.type(i), type));
  }
  node.emit_cast(node.make(name_of(node.op()), std::move(inputs), same_attributes(node.attributes()),
                           node.output_shape(), ElementType::float32));
}

}  // namespace

ExportRule find_export_rule(const Graph& graph, const Node& node) {
  if (node.op == Op::Custom) return export_custom;
  // A chip's own places of an axis mean nothing to standard operators.
  if (node.attributes.has(Attr::mesh)) return export_collective;
  if (is_composite(node.op)) return nullptr;
  if (any_type(graph, node, is_storage_type) && !takes_storage_types(node.op)) return nullptr;
  if (any_type(graph, node, [&](ElementType type) { return lacks(node.op, type); })) return in_single_precision;
  switch (family_of(node.op)) {
    case OpFamily::elementwise: return elementwise_export(graph, node);
    case OpFamily::contraction: return contraction_export(graph, node);
    case OpFamily::convolution: return convolution_export(graph, node);
    case OpFamily::pool: return pool_export(graph, node);
    case OpFamily::reduction: return reduction_export(graph, node);
    case OpFamily::softmax: return softmax_export(graph, node);
    case OpFamily::norm: return norm_export(graph, node);
    case OpFamily::view: return view_export(graph, node);
    case OpFamily::movement: return movement_export(graph, node);
    case OpFamily::generate: return generate_export(graph, node);
    case OpFamily::collective: return export_collective;
    case OpFamily::custom:
    case OpFamily::optimizer: break;
  }
  return nullptr;
}

}  // namespace monet::onnx
