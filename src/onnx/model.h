// An ONNX file as it is written: plain structures that point into the file's bytes. Nothing is checked but the
// encoding, nothing large is copied, no weight is looked at.
#pragma once

#include <monet/expected.h>

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace monet::onnx {

using Text = std::string_view;  // into the file

// TensorProto. Values stay encoded until decode() in values.h is asked.
struct RawTensor {
  Text name;
  std::int32_t data_type = 0;
  std::vector<std::int64_t> dims;
  Text raw_data;
  std::vector<Text>
      packed_fields;  // float_data, int32_data, int64_data, double_data, uint64_data as they lie in the file
  bool external = false;
  Text location;            // external only
  std::int64_t offset = 0;  // external only
  std::int64_t length = -1;
  bool has_strings = false;
};

struct RawGraph;

// AttributeProto; `kind` is its type field, or deduced from what is there.
struct RawAttribute {
  enum class Kind : std::uint8_t {
    none,
    real,
    integer,
    text,
    tensor,
    graph,
    reals,
    integers,
    texts,
    tensors,
    graphs,
    sparse,
    type
  };
  Text name;
  Kind kind = Kind::none;
  Text reference;  // in a function: the attribute of the call that stands here
  double real = 0;
  std::int64_t integer = 0;
  Text text;
  std::vector<double> reals;
  std::vector<std::int64_t> integers;
  std::vector<Text> texts;
  std::vector<RawTensor> tensors;  // one for kind tensor
};

struct RawNode {
  Text name;
  Text op_type;
  Text domain;
  std::vector<Text> inputs;
  std::vector<Text> outputs;
  std::vector<RawAttribute> attributes;
  std::vector<std::pair<Text, Text>> metadata;
};

struct RawDimension {
  std::int64_t value = -1;  // -1: not given
  Text symbol;              // empty: not given
};

// ValueInfoProto
struct RawValue {
  Text name;
  bool is_tensor = false;
  Text other_kind;  // "sequence", "map", … when it is not a tensor
  std::int32_t data_type = 0;
  bool has_shape = false;
  std::vector<RawDimension> dims;
};

struct RawGraph {
  Text name;
  std::vector<RawNode> nodes;
  std::vector<RawTensor> initializers;
  std::vector<RawValue> inputs;
  std::vector<RawValue> outputs;
  bool has_sparse_initializers = false;
};

struct RawOpset {
  Text domain;
  std::int64_t version = 0;
};

struct RawFunction {
  Text name;
  Text domain;
  Text overload;
  std::vector<Text> inputs;
  std::vector<Text> outputs;
  std::vector<Text> attributes;
  std::vector<RawAttribute> attribute_defaults;
  std::vector<RawNode> nodes;
  std::vector<RawOpset> opsets;
};

struct RawModel {
  std::int64_t ir_version = 0;
  Text producer;
  std::vector<RawOpset> opsets;
  RawGraph graph;
  std::vector<RawFunction> functions;
  std::vector<std::pair<Text, Text>> metadata;
};

// Decodes a ModelProto. The result points into `bytes`, which must outlive it.
// Fails on anything that is not a well-formed ModelProto with a graph.
Expected<RawModel> decode_model(std::string_view bytes);

}  // namespace monet::onnx
