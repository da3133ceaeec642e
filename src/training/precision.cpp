#include "training/precision.h"

#include "base/require.h"
#include "graph/builder.h"
#include "graph/custom.h"
#include "graph/infer.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace monet::training {

namespace {

// What torch.autocast runs in the lower precision on a GPU.
bool is_lowered(Op op) {
  switch (op) {
    case Op::MatMul:
    case Op::Gemm:
    case Op::Einsum:
    case Op::Attention:
    case Op::Conv:
    case Op::ConvTranspose:
    case Op::PRelu: return true;
    default: return false;
  }
}

// What it runs in float32, and what it does not know.
bool is_raised(Op op) {
  switch (op) {
    case Op::Acos:
    case Op::Asin:
    case Op::Cosh:
    case Op::Exp:
    case Op::Log:
    case Op::Pow:
    case Op::Reciprocal:
    case Op::Sinh:
    case Op::Softplus:
    case Op::Tan:
    case Op::CumSum:
    case Op::ReduceL1:
    case Op::ReduceL2:
    case Op::ReduceProd:
    case Op::ReduceSum:
    case Op::ReduceLogSum:
    case Op::ReduceLogSumExp:
    case Op::ReduceSumSquare:
    case Op::Softmax:
    case Op::LogSoftmax:
    case Op::SoftmaxCrossEntropyLoss:
    case Op::NegativeLogLikelihoodLoss:
    case Op::LayerNormalization:
    case Op::GroupNormalization:
    case Op::Custom: return true;
    default: return false;
  }
}

// Operators whose other inputs keep a format of their own: parameters of norms.
std::size_t cast_inputs(const Node& node) {
  return family_of(node.op) == OpFamily::norm && node.op != Op::LayerNormalization && node.op != Op::GroupNormalization
             ? 1
             : node.inputs.size();
}

void set_type(Graph& graph, TensorId id, ElementType type) {
  graph[id].type.format.element = type;
  if (const auto found = graph.constants.find(id); found != graph.constants.end()) found->second.type = type;
}

bool is_float(const Graph& graph, TensorId id) { return id.valid() && is_floating(graph[id].type.format.element); }

// Types of a node's outputs anew, from its inputs.
void infer_outputs(Graph& graph, const Node& node) {
  std::vector<const TensorType*> types;
  for (TensorId id : node.inputs) types.push_back(id.valid() ? &graph[id].type : nullptr);
  const auto inferred = infer({.op = node.op, .attributes = node.attributes, .inputs = types});
  MONET_REQUIRE(inferred.has_value());  // shapes are as before
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i].valid()) graph[node.outputs[i]].type.format = (*inferred)[i].format;
  }
}

// An operator that names a floating-point type makes `type` instead.
void retarget(Node& node, ElementType type) {
  if (node.op == Op::Custom) {
    CustomOperator custom = custom_operator(node.attributes);
    for (TensorType& output : custom.outputs) {
      const ElementType own = output.format.element;
      if (is_floating(own) && bits_of(own) >= 16) output.format.element = type;
    }
    node.attributes = custom_attributes(custom);
  }
  if (!node.attributes.has(Attr::to)) return;
  const auto to = static_cast<ElementType>(node.attributes.integer(Attr::to));
  if (is_floating(to) && bits_of(to) >= 16) node.attributes.set(Attr::to, static_cast<std::int64_t>(type));
}

Graph everything_in(Graph graph, ElementType type) {
  for (std::size_t i = 0; i < graph.tensors().size(); ++i) {
    const TensorId id(i);
    if (!graph[id].producer.valid() && is_float(graph, id)) set_type(graph, id, type);
  }
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    retarget(graph[NodeId(i)], type);
    const Node node = graph[NodeId(i)];
    infer_outputs(graph, node);
  }
  return graph;
}

class Autocast {
 public:
  Autocast(Graph graph, ElementType compute) : compute_(compute), nodes_(graph.nodes()), builder_(std::move(graph)) {
    builder_.edit().set_nodes({});
  }

  Graph run() {
    for (Node& node : nodes_) {
      if (const auto type = wanted_type(node)) {
        for (std::size_t i = 0; i < cast_inputs(node); ++i) {
          if (is_float(builder_.graph(), node.inputs[i])) node.inputs[i] = as(node.inputs[i], *type);
        }
      }
      infer_outputs(builder_.edit(), node);
      builder_.edit().add_node(std::move(node));
    }
    auto graph = builder_.finish();
    MONET_REQUIRE(graph.has_value());
    return *std::move(graph);
  }

 private:
  // The type in which a node reads its floating-point inputs; nothing: as they come.
  std::optional<ElementType> wanted_type(const Node& node) const {
    if (is_lowered(node.op) || is_bias(node)) return compute_;
    if (is_raised(node.op)) return ElementType::float32;
    if (node.op == Op::Cast || family_of(node.op) == OpFamily::norm) return std::nullopt;
    // Others take the widest of their inputs; constant scalars follow.
    std::optional<ElementType> widest;
    bool differ = false;
    for (TensorId id : node.inputs) {
      if (!is_float(builder_.graph(), id)) continue;
      const ElementType type = builder_.type(id);
      if (widest && type != *widest) differ = true;
      const bool scalar = builder_.shape(id).empty() && builder_.graph().constant(id) != nullptr;
      if (!widest || (!scalar && bits_of(type) > bits_of(*widest))) widest = type;
    }
    return differ ? widest : std::nullopt;
  }

  // Weights, as they are or transposed: their casts are kept for all readers. Activations are cast for each.
  bool is_weight(TensorId id) const {
    const Graph& graph = builder_.graph();
    while (graph[id].producer.valid() && family_of(graph[graph[id].producer].op) == OpFamily::view) {
      id = graph[graph[id].producer].inputs[0];
    }
    return !graph[id].producer.valid();
  }

  // The addition of a parameter to a product: one layer with it.
  bool is_bias(const Node& node) const {
    if (node.op != Op::Add) return false;
    const Graph& graph = builder_.graph();
    const auto is_product = [&](TensorId id) {
      return graph[id].producer.valid() && family_of(graph[graph[id].producer].op) == OpFamily::contraction;
    };
    return (graph[node.inputs[0]].parameter && is_product(node.inputs[1])) ||
           (graph[node.inputs[1]].parameter && is_product(node.inputs[0]));
  }

  TensorId as(TensorId id, ElementType type) {
    if (builder_.type(id) == type) return id;
    const auto cast = [&] {
      return builder_.add(Op::Cast, fmt::format("{}.{}", builder_.graph()[id].name, name_of(type)), {id},
                          {{Attr::to, static_cast<std::int64_t>(type)}});
    };
    if (!is_weight(id)) return cast();
    const auto [entry, fresh] = casts_.try_emplace({id, type});
    if (fresh) entry->second = cast();
    return entry->second;
  }

  ElementType compute_;
  std::vector<Node> nodes_;
  GraphBuilder builder_;
  std::map<std::pair<TensorId, ElementType>, TensorId> casts_;
};

}  // namespace

Graph with_precision(Graph graph, const Precision& precision) {
  if (!precision.mixed) return everything_in(std::move(graph), precision.compute);
  return Autocast(everything_in(std::move(graph), ElementType::float32), precision.compute).run();
}

}  // namespace monet::training
