// Writes small ONNX files in memory, so that a test says what is in the file and nothing else.
#pragma once

#include "graph/network_graph.h"
#include "onnx/reader.h"

#include <concepts>
#include <string>
#include <variant>
#include <vector>

namespace monet::test {

// Numbers of TensorProto.DataType that the tests use.
enum OnnxType : std::int32_t { onnx_float = 1, onnx_int32 = 6, onnx_int64 = 7, onnx_string = 8, onnx_bool = 9 };

// TensorProto. By default the values are raw data.
struct OnnxTensor {
  std::string name;
  std::int32_t type = onnx_float;
  Shape dims;
  std::string raw;
  bool has_raw = true;
  std::vector<float> float_data;         // field 4
  std::vector<std::int64_t> int64_data;  // field 7
  bool packed = true;                    // dims and the two fields above; one by one otherwise
  std::string location;                  // external when not empty
};
OnnxTensor int64_tensor(std::string name, Shape dims, const std::vector<std::int64_t>& values);
OnnxTensor float_tensor(std::string name, Shape dims, const std::vector<float>& values);
// A one-axis tensor, or a scalar.
OnnxTensor int64_vector(std::string name, const std::vector<std::int64_t>& values);
OnnxTensor float_scalar(std::string name, float value);
OnnxTensor int64_scalar(std::string name, std::int64_t value);
OnnxTensor bool_scalar(std::string name, bool value);
// The same in the typed fields.
OnnxTensor int64_fields(std::string name, Shape dims, std::vector<std::int64_t> values, bool packed = true);
OnnxTensor float_fields(std::string name, Shape dims, std::vector<float> values, bool packed = true);
// Data in another file, which is not there.
OnnxTensor external(std::string name, Shape dims, std::int32_t type = onnx_float);

// AttributeProto
struct OnnxAttribute {
  struct Graph {
    std::string bytes;  // a GraphProto
  };
  struct Reference {
    std::string name;  // of the function's attribute
    int kind;          // AttributeProto.AttributeType: 1 real, 2 integer, 3 text, 6 reals, 7 integers
  };
  using Value = std::variant<std::int64_t, double, std::string, std::vector<std::int64_t>, std::vector<double>,
                             OnnxTensor, Graph, Reference>;
  std::string name;
  Value value;
  bool packed = true;
};
OnnxAttribute attr(std::string name, OnnxAttribute::Value value);
OnnxAttribute attr(std::string name, const char* text);
OnnxAttribute attr(std::string name, std::initializer_list<std::int64_t> values);
template <std::integral T>
OnnxAttribute attr(std::string name, T value) {
  return attr(std::move(name), OnnxAttribute::Value(std::int64_t{value}));
}
template <std::floating_point T>
OnnxAttribute attr(std::string name, T value) {
  return attr(std::move(name), OnnxAttribute::Value(double{value}));
}

using Names = std::vector<std::string>;
using Metadata = std::vector<std::pair<std::string, std::string>>;

// NodeProto; named after its first output unless the test says otherwise.
struct OnnxNode {
  std::string op_type;
  Names inputs;
  Names outputs;
  std::vector<OnnxAttribute> attributes;
  std::string name;
  std::string domain;
  std::string overload;
  Metadata metadata;
};
OnnxNode make_node(std::string op_type, Names inputs, Names outputs, std::vector<OnnxAttribute> attributes = {});

// An attribute that is a graph: the branch of an If, the body of a Loop.
OnnxAttribute subgraph(std::string name, const std::vector<OnnxNode>& nodes, const Names& outputs,
                       const Names& inputs = {});

// A size, a symbol, or (an empty symbol) nothing at all.
struct OnnxDim {
  OnnxDim(std::int64_t value) : size(value), known(true) {}
  OnnxDim(int value) : size(value), known(true) {}
  OnnxDim(const char* name) : symbol(name) {}
  std::int64_t size = 0;
  bool known = false;
  std::string symbol;
};

// ValueInfoProto
struct OnnxValue {
  enum class Kind { tensor, sequence, none };
  std::string name;
  std::vector<OnnxDim> dims;
  std::int32_t type = onnx_float;
  Kind kind = Kind::tensor;
  bool has_shape = true;
};

struct OnnxFunction {
  std::string name;
  std::string domain = "local";
  std::string overload;
  Names inputs;
  Names outputs;
  std::vector<OnnxNode> nodes;
  Names attributes;
  std::vector<OnnxAttribute> defaults;
  std::vector<std::pair<std::string, std::int64_t>> opsets = {{"", 17}};
};

class OnnxModel {
 public:
  std::vector<std::pair<std::string, std::int64_t>> opsets = {{"", 17}};
  std::vector<OnnxNode> nodes;
  std::vector<OnnxValue> inputs;
  std::vector<OnnxValue> outputs;
  std::vector<OnnxValue> inner_values;
  std::vector<OnnxTensor> initializers;
  std::vector<OnnxFunction> functions;
  Metadata graph_metadata;
  bool sparse_initializer = false;

  OnnxModel& input(std::string name, std::vector<OnnxDim> dims, std::int32_t type = onnx_float);
  OnnxModel& output(std::string name);
  OnnxModel& initializer(OnnxTensor tensor);
  // Gives the node, to change what is not in the list.
  OnnxNode& node(std::string op_type, Names inputs, Names outputs, std::vector<OnnxAttribute> attributes = {});
  // A value that depends on no input, as a node of its own.
  OnnxModel& constant(std::string name, OnnxTensor value);

  std::string bytes() const;
  Expected<NetworkGraph> read(const onnx::ReadOptions& options = {}) const;
  // The network, or a failure of the test and an empty one.
  NetworkGraph network(const onnx::ReadOptions& options = {}) const;
  // The error, or a failure of the test.
  Error error(const onnx::ReadOptions& options = {}) const;
};

// The only tensor of that name; fails the test when there is none.
TensorId tensor_named(const Graph& graph, std::string_view name);
// How many nodes are of that kind.
std::size_t count_of(const Graph& graph, Op op);
// Of the whole graph.
std::int64_t macs_of(const Graph& graph);
std::int64_t parameters_of(const Graph& graph);

}  // namespace monet::test
