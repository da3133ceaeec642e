#include "onnx/encode.h"

#include "onnx/wire.h"

#include <monet/version.h>

namespace monet::onnx {

namespace {

using protozero::pbf_writer;

void add_text(pbf_writer& message, protozero::pbf_tag_type tag, Text text) {
  message.add_string(tag, text.data(), text.size());
}

void add_metadata(pbf_writer& message, protozero::pbf_tag_type tag, const Metadata& metadata) {
  for (const auto& [key, value] : metadata) {
    pbf_writer entry(message, tag);
    add_text(entry, 1, key);
    add_text(entry, 2, value);
  }
}

void add_tensor(pbf_writer& message, protozero::pbf_tag_type tag, Text name, const Constant& value) {
  pbf_writer tensor(message, tag);
  tensor.add_packed_int64(1, value.shape.begin(), value.shape.end());
  tensor.add_int32(2, onnx_number(value.type));
  if (!name.empty()) add_text(tensor, 8, name);
  tensor.add_bytes(9, raw_data(value));
}

// The value's field and AttributeProto.AttributeType.
struct AttributeWriter {
  pbf_writer& attribute;

  void operator()(std::int64_t value) const {
    attribute.add_int64(3, value);
    attribute.add_int32(20, 2);
  }
  void operator()(double value) const {
    attribute.add_float(2, static_cast<float>(value));
    attribute.add_int32(20, 1);
  }
  void operator()(const std::string& value) const {
    attribute.add_bytes(4, value);
    attribute.add_int32(20, 3);
  }
  void operator()(const std::vector<std::int64_t>& values) const {
    for (std::int64_t value : values) attribute.add_int64(8, value);
    attribute.add_int32(20, 7);
  }
  void operator()(const std::vector<double>& values) const {
    for (double value : values) attribute.add_float(7, static_cast<float>(value));
    attribute.add_int32(20, 6);
  }
  void operator()(const Constant& value) const {
    add_tensor(attribute, 5, {}, value);
    attribute.add_int32(20, 4);
  }
};

void add_value(std::string& graph, protozero::pbf_tag_type tag, Text name, const TensorType& type,
               const Metadata& metadata) {
  pbf_writer fields(graph);
  pbf_writer value(fields, tag);
  add_text(value, 1, name);
  {
    pbf_writer kind(value, 2);
    pbf_writer tensor(kind, 1);
    tensor.add_int32(1, onnx_number(type.format.element));
    // Apart, because an empty message that is written in place leaves no trace: no axes is not an unknown shape.
    std::string shape;
    pbf_writer axes(shape);
    for (std::int64_t size : type.shape) {
      pbf_writer dimension(axes, 1);
      dimension.add_int64(1, size);
    }
    tensor.add_message(2, shape);
  }
  add_metadata(value, 4, metadata);
}

}  // namespace

void ModelEncoder::node(const OnnxNode& node) {
  pbf_writer fields(nodes_);
  pbf_writer message(fields, 1);
  for (Text name : node.inputs) add_text(message, 1, name);
  for (Text name : node.outputs) add_text(message, 2, name);
  add_text(message, 3, node.name);
  add_text(message, 4, node.op_type);
  for (const OnnxAttribute& entry : node.attributes) {
    pbf_writer attribute(message, 5);
    add_text(attribute, 1, entry.name);
    std::visit(AttributeWriter{attribute}, entry.value);
  }
  if (!node.domain.empty()) {
    add_text(message, 7, node.domain);
    domains_.emplace(node.domain);
  }
  add_metadata(message, 9, node.metadata);
}

void ModelEncoder::initializer(Text name, const Constant& value) {
  pbf_writer fields(initializers_);
  add_tensor(fields, 5, name, value);
}

void ModelEncoder::input(Text name, const TensorType& type, const Metadata& metadata) {
  add_value(inputs_, 11, name, type, metadata);
}

void ModelEncoder::output(Text name, const TensorType& type, const Metadata& metadata) {
  add_value(outputs_, 12, name, type, metadata);
}

void ModelEncoder::inner_value(Text name, const TensorType& type, const Metadata& metadata) {
  add_value(inner_values_, 13, name, type, metadata);
}

std::string ModelEncoder::finish(Text graph_name, Versions versions) {
  std::string graph = std::exchange(nodes_, {});
  {
    pbf_writer fields(graph);
    add_text(fields, 2, graph_name);
  }
  for (std::string* part : {&initializers_, &inputs_, &outputs_, &inner_values_}) graph += std::exchange(*part, {});
  std::string bytes;
  pbf_writer model(bytes);
  model.add_int64(1, versions.ir);
  add_text(model, 2, "monet");
  add_text(model, 3, version);
  model.add_message(7, graph);
  {
    pbf_writer opset(model, 8);
    add_text(opset, 1, "");
    opset.add_int64(2, versions.opset);
  }
  for (const std::string& domain : std::exchange(domains_, {})) {
    pbf_writer opset(model, 8);
    add_text(opset, 1, domain);
    opset.add_int64(2, 1);
  }
  return bytes;
}

}  // namespace monet::onnx
