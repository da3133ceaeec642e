#include "support/onnx_builder.h"

#include "onnx/wire.h"

#include "graph/nests.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace monet::test {

namespace {

using protozero::pbf_writer;

template <class T>
std::string raw_bytes(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

void write_integers(pbf_writer& message, std::uint32_t field, const std::vector<std::int64_t>& values, bool packed) {
  if (packed) return message.add_packed_int64(field, values.begin(), values.end());
  for (std::int64_t value : values) message.add_int64(field, value);
}

template <class T>
void write_reals(pbf_writer& message, std::uint32_t field, const std::vector<T>& values, bool packed) {
  const std::vector<float> reals(values.begin(), values.end());
  if (packed) return message.add_packed_float(field, reals.begin(), reals.end());
  for (float value : reals) message.add_float(field, value);
}

void write_entry(pbf_writer& message, std::uint32_t field, const std::string& key, const std::string& value) {
  pbf_writer entry(message, field);
  entry.add_string(1, key);
  entry.add_string(2, value);
}

void write_tensor(pbf_writer& parent, std::uint32_t field, const OnnxTensor& tensor) {
  pbf_writer message(parent, field);
  write_integers(message, 1, tensor.dims, tensor.packed);
  message.add_int32(2, tensor.type);
  if (!tensor.float_data.empty()) write_reals(message, 4, tensor.float_data, tensor.packed);
  if (!tensor.int64_data.empty()) write_integers(message, 7, tensor.int64_data, tensor.packed);
  message.add_string(8, tensor.name);
  if (tensor.has_raw) message.add_bytes(9, tensor.raw);
  if (tensor.location.empty()) return;
  write_entry(message, 13, "location", tensor.location);
  message.add_int32(14, 1);
}

struct AttributeWriter {
  pbf_writer& message;
  bool packed;

  void operator()(std::int64_t value) const {
    message.add_int64(3, value);
    message.add_int32(20, 2);
  }
  void operator()(double value) const {
    message.add_float(2, static_cast<float>(value));
    message.add_int32(20, 1);
  }
  void operator()(const std::string& value) const {
    message.add_bytes(4, value);
    message.add_int32(20, 3);
  }
  void operator()(const std::vector<std::int64_t>& values) const {
    write_integers(message, 8, values, packed);
    message.add_int32(20, 7);
  }
  void operator()(const std::vector<double>& values) const {
    write_reals(message, 7, values, packed);
    message.add_int32(20, 6);
  }
  void operator()(const OnnxTensor& value) const {
    write_tensor(message, 5, value);
    message.add_int32(20, 4);
  }
  void operator()(const OnnxAttribute::Graph& graph) const {
    message.add_bytes(6, graph.bytes);
    message.add_int32(20, 5);
  }
  void operator()(const OnnxAttribute::Reference& reference) const {
    message.add_string(21, reference.name);
    message.add_int32(20, reference.kind);
  }
};

void write_attribute(pbf_writer& parent, std::uint32_t field, const OnnxAttribute& attribute) {
  pbf_writer message(parent, field);
  message.add_string(1, attribute.name);
  std::visit(AttributeWriter{message, attribute.packed}, attribute.value);
}

void write_node(pbf_writer& parent, std::uint32_t field, const OnnxNode& node) {
  pbf_writer message(parent, field);
  for (const std::string& name : node.inputs) message.add_string(1, name);
  for (const std::string& name : node.outputs) message.add_string(2, name);
  message.add_string(3, node.name);
  message.add_string(4, node.op_type);
  for (const OnnxAttribute& attribute : node.attributes) write_attribute(message, 5, attribute);
  message.add_string(7, node.domain);
  message.add_string(8, node.overload);
  for (const auto& [key, value] : node.metadata) write_entry(message, 9, key, value);
}

void write_value(pbf_writer& parent, std::uint32_t field, const OnnxValue& value) {
  pbf_writer message(parent, field);
  message.add_string(1, value.name);
  if (value.kind == OnnxValue::Kind::none) return;
  pbf_writer type(message, 2);
  if (value.kind == OnnxValue::Kind::sequence) {
    type.add_bytes(4, "");
    return;
  }
  pbf_writer tensor(type, 1);
  tensor.add_int32(1, value.type);
  if (!value.has_shape) return;
  if (value.dims.empty()) return tensor.add_bytes(2, "");  // the writer leaves out messages without fields
  pbf_writer shape(tensor, 2);
  for (const OnnxDim& dim : value.dims) {
    if (!dim.known && dim.symbol.empty()) {
      shape.add_bytes(1, "");
      continue;
    }
    pbf_writer dimension(shape, 1);
    if (dim.known) dimension.add_int64(1, dim.size);
    if (!dim.known) dimension.add_string(2, dim.symbol);
  }
}

template <class Opsets>
void write_opsets(pbf_writer& parent, std::uint32_t field, const Opsets& opsets) {
  for (const auto& [domain, version] : opsets) {
    pbf_writer opset(parent, field);
    opset.add_string(1, domain);
    opset.add_int64(2, version);
  }
}

void write_function(pbf_writer& parent, std::uint32_t field, const OnnxFunction& function) {
  pbf_writer message(parent, field);
  message.add_string(1, function.name);
  for (const std::string& name : function.inputs) message.add_string(4, name);
  for (const std::string& name : function.outputs) message.add_string(5, name);
  for (const std::string& name : function.attributes) message.add_string(6, name);
  for (const OnnxNode& node : function.nodes) write_node(message, 7, node);
  write_opsets(message, 9, function.opsets);
  message.add_string(10, function.domain);
  for (const OnnxAttribute& attribute : function.defaults) write_attribute(message, 11, attribute);
  message.add_string(13, function.overload);
}

}  // namespace

OnnxTensor int64_tensor(std::string name, Shape dims, const std::vector<std::int64_t>& values) {
  OnnxTensor tensor;
  tensor.name = std::move(name);
  tensor.type = onnx_int64;
  tensor.dims = std::move(dims);
  tensor.raw = raw_bytes(values);
  return tensor;
}

OnnxTensor float_tensor(std::string name, Shape dims, const std::vector<float>& values) {
  OnnxTensor tensor;
  tensor.name = std::move(name);
  tensor.dims = std::move(dims);
  tensor.raw = raw_bytes(values);
  return tensor;
}

OnnxTensor int64_vector(std::string name, const std::vector<std::int64_t>& values) {
  return int64_tensor(std::move(name), {static_cast<std::int64_t>(values.size())}, values);
}

OnnxTensor float_scalar(std::string name, float value) { return float_tensor(std::move(name), {}, {value}); }

OnnxTensor int64_scalar(std::string name, std::int64_t value) { return int64_tensor(std::move(name), {}, {value}); }

OnnxTensor bool_scalar(std::string name, bool value) {
  OnnxTensor tensor = float_tensor(std::move(name), {}, {});
  tensor.type = onnx_bool;
  tensor.raw = std::string(1, value ? '\1' : '\0');
  return tensor;
}

OnnxTensor int64_fields(std::string name, Shape dims, std::vector<std::int64_t> values, bool packed) {
  OnnxTensor tensor = int64_tensor(std::move(name), std::move(dims), {});
  tensor.has_raw = false;
  tensor.int64_data = std::move(values);
  tensor.packed = packed;
  return tensor;
}

OnnxTensor float_fields(std::string name, Shape dims, std::vector<float> values, bool packed) {
  OnnxTensor tensor = float_tensor(std::move(name), std::move(dims), {});
  tensor.has_raw = false;
  tensor.float_data = std::move(values);
  tensor.packed = packed;
  return tensor;
}

OnnxTensor external(std::string name, Shape dims, std::int32_t type) {
  OnnxTensor tensor;
  tensor.name = std::move(name);
  tensor.type = type;
  tensor.dims = std::move(dims);
  tensor.has_raw = false;
  tensor.location = "weights.bin";
  return tensor;
}

OnnxAttribute attr(std::string name, OnnxAttribute::Value value) { return {std::move(name), std::move(value), true}; }

OnnxAttribute attr(std::string name, const char* text) {
  return attr(std::move(name), OnnxAttribute::Value(std::string(text)));
}

OnnxAttribute attr(std::string name, std::initializer_list<std::int64_t> values) {
  return attr(std::move(name), OnnxAttribute::Value(std::vector<std::int64_t>(values)));
}

OnnxNode make_node(std::string op_type, Names inputs, Names outputs, std::vector<OnnxAttribute> attributes) {
  OnnxNode node;
  node.op_type = std::move(op_type);
  node.name = outputs.empty() ? "" : outputs.front();
  node.inputs = std::move(inputs);
  node.outputs = std::move(outputs);
  node.attributes = std::move(attributes);
  return node;
}

OnnxAttribute subgraph(std::string name, const std::vector<OnnxNode>& nodes, const Names& outputs,
                       const Names& inputs) {
  std::string bytes;
  pbf_writer graph(bytes);
  for (const OnnxNode& node : nodes) write_node(graph, 1, node);
  graph.add_string(2, name);
  for (const std::string& input : inputs) write_value(graph, 11, {input, {}, onnx_float, OnnxValue::Kind::none, false});
  for (const std::string& output : outputs)
    write_value(graph, 12, {output, {}, onnx_float, OnnxValue::Kind::none, false});
  return attr(std::move(name), OnnxAttribute::Graph{std::move(bytes)});
}

OnnxModel& OnnxModel::input(std::string name, std::vector<OnnxDim> dims, std::int32_t type) {
  inputs.push_back({std::move(name), std::move(dims), type, OnnxValue::Kind::tensor, true});
  return *this;
}

OnnxModel& OnnxModel::output(std::string name) {
  outputs.push_back({std::move(name), {}, onnx_float, OnnxValue::Kind::tensor, false});
  return *this;
}

OnnxModel& OnnxModel::initializer(OnnxTensor tensor) {
  initializers.push_back(std::move(tensor));
  return *this;
}

OnnxNode& OnnxModel::node(std::string op_type, Names node_inputs, Names node_outputs,
                          std::vector<OnnxAttribute> attributes) {
  return nodes.emplace_back(
      make_node(std::move(op_type), std::move(node_inputs), std::move(node_outputs), std::move(attributes)));
}

OnnxModel& OnnxModel::constant(std::string name, OnnxTensor value) {
  node("Constant", {}, {std::move(name)}, {attr("value", std::move(value))});
  return *this;
}

std::string OnnxModel::bytes() const {
  std::string buffer;
  pbf_writer message(buffer);
  message.add_int64(1, 8);
  message.add_string(2, "test");
  {
    pbf_writer graph(message, 7);
    for (const OnnxNode& node : nodes) write_node(graph, 1, node);
    graph.add_string(2, "graph");
    for (const OnnxTensor& tensor : initializers) write_tensor(graph, 5, tensor);
    for (const OnnxValue& value : inputs) write_value(graph, 11, value);
    for (const OnnxValue& value : outputs) write_value(graph, 12, value);
    for (const OnnxValue& value : inner_values) write_value(graph, 13, value);
    if (sparse_initializer) graph.add_bytes(15, "");
    for (const auto& [key, value] : graph_metadata) write_entry(graph, 16, key, value);
  }
  write_opsets(message, 8, opsets);
  for (const OnnxFunction& function : functions) write_function(message, 25, function);
  return buffer;
}

Expected<NetworkGraph> OnnxModel::read(const onnx::ReadOptions& options) const {
  return onnx::read_bytes(bytes(), "no-such-folder", options);
}

NetworkGraph OnnxModel::network(const onnx::ReadOptions& options) const {
  auto result = read(options);
  EXPECT_TRUE(result.has_value()) << result.error().text();
  return result ? *std::move(result) : NetworkGraph{};
}

Error OnnxModel::error(const onnx::ReadOptions& options) const {
  const auto result = read(options);
  EXPECT_FALSE(result.has_value()) << "the file was read without an error";
  return result ? Error{} : result.error();
}

TensorId tensor_named(const Graph& graph, std::string_view name) {
  const auto found = std::ranges::find(graph.tensors(), name, &Tensor::name);
  EXPECT_NE(found, graph.tensors().end()) << "there is no tensor '" << name << "'";
  return TensorId(static_cast<std::size_t>(found - graph.tensors().begin()));
}

std::size_t count_of(const Graph& graph, Op op) {
  return static_cast<std::size_t>(std::ranges::count(graph.nodes(), op, &Node::op));
}

std::int64_t macs_of(const Graph& graph) {
  std::int64_t total = 0;
  for (const Node& node : graph.nodes()) {
    const auto counts = operation_counts(nests_of(site_of(graph, node)));
    if (counts) total += (*counts)[Count::mac];
  }
  return total;
}

std::int64_t parameters_of(const Graph& graph) {
  std::int64_t total = 0;
  for (const Tensor& tensor : graph.tensors()) {
    if (tensor.parameter) total += element_count(tensor.type.shape);
  }
  return total;
}

}  // namespace monet::test
