// Writing the messages of an ONNX file: the other direction of decode.cpp. What is written here is taken as it is; that
// it makes sense is the exporter's business.
#pragma once

#include "graph/constant.h"
#include "graph/graph.h"

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace monet::onnx {

using Text = std::string_view;
using Metadata = std::vector<std::pair<Text, Text>>;

// TensorProto.DataType
std::int32_t onnx_number(ElementType type);

// The elements as ONNX keeps them in raw_data: little endian, two to a byte where they have four bits.
std::string raw_data(const Constant& value);

// AttributeProto
using OnnxValue =
    std::variant<std::int64_t, double, std::string, std::vector<std::int64_t>, std::vector<double>, Constant>;
struct OnnxAttribute {
  Text name;
  OnnxValue value;
};
using OnnxAttributes = std::vector<OnnxAttribute>;

// NodeProto
struct OnnxNode {
  Text op_type;
  Text name;
  std::vector<Text> inputs;
  std::vector<Text> outputs;
  OnnxAttributes attributes;
  Metadata metadata;
  Text domain = {};  // empty: ONNX's own
};

// A GraphProto and the ModelProto around it, part by part. Cost: linear in the bytes.
class ModelEncoder {
 public:
  void node(const OnnxNode& node);
  void initializer(Text name, const Constant& value);
  void input(Text name, const TensorType& type, const Metadata& metadata);
  void output(Text name, const TensorType& type, const Metadata& metadata);
  void inner_value(Text name, const TensorType& type, const Metadata& metadata);

  // Of what has been written so far.
  std::size_t size() const {
    return nodes_.size() + initializers_.size() + inputs_.size() + outputs_.size() + inner_values_.size();
  }

  // What ONNX calls the format's version, and the version of its operators.
  struct Versions {
    std::int64_t ir;
    std::int64_t opset;
  };
  // The file. The encoder is empty afterwards.
  std::string finish(Text graph_name, Versions versions);

 private:
  std::string nodes_;
  std::string initializers_;
  std::string inputs_;
  std::string outputs_;
  std::string inner_values_;
  std::set<std::string, std::less<>> domains_;  // of the nodes, beside ONNX's own
};

}  // namespace monet::onnx
