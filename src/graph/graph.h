// What is computed: tensors and the operators between them, as flat tables in an order in which they can run.
#pragma once

#include "base/ids.h"
#include "graph/attributes.h"
#include "graph/constant.h"
#include "graph/format.h"
#include "graph/op.h"

#include <string>
#include <unordered_map>
#include <vector>

namespace monet {

using TensorId = Id<struct TensorTag>;
using NodeId = Id<struct NodeTag>;

// Why a tensor exists.
enum class Role : std::uint8_t {
  input,
  weight,
  master_weight,
  activation,
  gradient,
  weight_gradient,
  optimizer_state,
  statistic,
  constant,
  workspace,
};
constexpr std::size_t role_count = 10;

// Which part of the step a node belongs to.
enum class Phase : std::uint8_t { forward, backward, optimizer };
constexpr std::size_t phase_count = 3;

std::string_view name_of(Role role);
std::string_view name_of(Phase phase);

struct TensorType {
  Shape shape;
  Format format;

  bool operator==(const TensorType&) const = default;
};

struct Tensor {
  std::string name;  // unique in the graph
  TensorType type;
  Role role = Role::activation;
  NodeId producer;         // not valid: comes from outside the step
  bool parameter = false;  // trained: counts as a parameter of the network
  TensorId updates;        // shares the storage of that tensor and replaces its value
};

struct Node {
  std::string name;  // unique in the graph
  Op op = Op::Identity;
  Phase phase = Phase::forward;
  bool recomputed = false;  // repeats a node of the forward part, for the backward part
  Attributes attributes;
  std::vector<TensorId> inputs;   // not valid: an optional input that is absent
  std::vector<TensorId> outputs;  // not valid: an output nobody wants; the first is there
};

class Graph {
 public:
  std::string name;
  std::vector<TensorId> inputs;  // given anew each step: data, targets
  std::vector<TensorId> outputs;
  std::unordered_map<TensorId, Constant> constants;  // values of the constants that are known

  const std::vector<Tensor>& tensors() const { return tensors_; }
  const std::vector<Node>& nodes() const { return nodes_; }
  Tensor& operator[](TensorId id) { return tensors_[id.index()]; }
  const Tensor& operator[](TensorId id) const { return tensors_[id.index()]; }
  Node& operator[](NodeId id) { return nodes_[id.index()]; }
  const Node& operator[](NodeId id) const { return nodes_[id.index()]; }

  // The constant's value if `id` is a constant whose value is known, else null. An invalid id gives null.
  const Constant* constant(TensorId id) const;

  TensorId add_tensor(Tensor tensor);
  // Appends; sets the producer of its outputs. Inputs must be tensors that are produced by earlier nodes or by none.
  NodeId add_node(Node node);
  // Replaces all nodes: same tensors, new order or subset. Producers are set anew.
  void set_nodes(std::vector<Node> nodes);

 private:
  std::vector<Tensor> tensors_;
  std::vector<Node> nodes_;
};

// The nodes that read each tensor, in order; a node that reads it twice stands there twice.
class Readers {
 public:
  explicit Readers(const Graph& graph);
  std::span<const NodeId> of(TensorId id) const {
    return std::span(nodes_).subspan(first_[id.index()], first_[id.index() + 1] - first_[id.index()]);
  }

 private:
  std::vector<std::size_t> first_;
  std::vector<NodeId> nodes_;
};

// Bytes of one tensor.
inline std::int64_t bytes(const Tensor& tensor) { return bytes(tensor.type.shape, tensor.type.format); }

}  // namespace monet
