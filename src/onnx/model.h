// An ONNX file as it is written: plain structures that point into the file's bytes. Nothing is checked but the
// encoding, nothing large is copied, no weight is looked at.
#pragma once

#include <monet/expected.h>

#include <cstdint>
#include <memory>
#include <string>
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
  bool has_raw_data = false;
  std::uint8_t value_field = 0;              // float_data 4, int32_data 5, int64_data 7, double_data 10, uint64_data 11
  std::vector<Text> packed_values;           // runs of that field, still encoded
  std::vector<std::uint64_t> single_values;  // values of that field that came one by one
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
  std::vector<RawTensor> tensors;            // one for kind tensor
  std::shared_ptr<const RawGraph> subgraph;  // for kind graph: nodes are copied, what they hold is not
};

struct RawNode {
  Text name;
  Text op_type;
  Text domain;
  Text overload;
  std::vector<Text> inputs;
  std::vector<Text> outputs;
  std::vector<RawAttribute> attributes;
  std::vector<std::pair<Text, Text>> metadata;
};

struct RawDimension {
  bool has_value = false;
  std::int64_t value = 0;
  Text symbol;  // empty: not given
};

// ValueInfoProto
struct RawValue {
  Text name;
  bool is_tensor = false;
  Text other_kind;  // "sequence", "map", … when it is not a tensor
  std::int32_t data_type = 0;
  bool has_shape = false;
  std::vector<RawDimension> dims;
  std::vector<std::pair<Text, Text>> metadata;
};

struct RawGraph {
  Text name;
  std::vector<RawNode> nodes;
  std::vector<RawTensor> initializers;
  std::vector<RawValue> inputs;
  std::vector<RawValue> outputs;
  std::vector<RawValue> inner_values;  // value_info: shapes that the exporter noted
  std::vector<std::pair<Text, Text>> metadata;
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
  bool has_graph = false;
  RawGraph graph;
  std::vector<RawFunction> functions;
  std::vector<std::pair<Text, Text>> metadata;
};

// Where a mistake in a node is: its name, or what it makes when it has none.
std::string place_of(const RawNode& node);

// Decodes a ModelProto. The result points into `bytes`, which must outlive it.
// Fails on anything that is not a well-formed ModelProto with a graph.
Expected<RawModel> decode_model(std::string_view bytes);

}  // namespace monet::onnx
