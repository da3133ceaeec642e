#include "parallel/prepare.h"

#include "base/try.h"
#include "graph/compact.h"
#include "graph/expand.h"

#include <map>
#include <numeric>

namespace monet::parallel {

namespace {

bool is_mean_loss(const Node& node) {
  switch (node.op) {
    case Op::SoftmaxCrossEntropyLoss:
    case Op::NegativeLogLikelihoodLoss:
    case Op::SoftmaxCrossEntropyLossGrad:
    case Op::MeanSquaredErrorLoss:
    case Op::MeanSquaredErrorLossGrad:
    case Op::BinaryCrossEntropyLoss:
    case Op::BinaryCrossEntropyLossGrad: return node.attributes.text(Attr::reduction) == "mean";
    default: return false;
  }
}

bool is_gradient(Op op) {
  return op == Op::SoftmaxCrossEntropyLossGrad || op == Op::MeanSquaredErrorLossGrad ||
         op == Op::BinaryCrossEntropyLossGrad;
}

bool is_over_classes(Op op) {
  return op == Op::SoftmaxCrossEntropyLoss || op == Op::NegativeLogLikelihoodLoss ||
         op == Op::SoftmaxCrossEntropyLossGrad;
}

bool has_weights(const Node& node) {
  const std::size_t at = is_gradient(node.op) ? 3 : 2;
  return is_over_classes(node.op) && at < node.inputs.size() && node.inputs[at].valid();
}

bool has_bias(const Node& node) {
  const bool product = node.op == Op::Gemm || node.op == Op::Conv || node.op == Op::ConvTranspose;
  return product && node.inputs.size() > 2 && node.inputs[2].valid();
}

bool has_own_parts(const Node& node) {
  return (is_mean_loss(node) && !has_weights(node)) || has_bias(node) || node.op == Op::ReduceMean;
}

class Parts {
 public:
  explicit Parts(GraphBuilder& builder) : builder_(builder) {}

  void write(Node node) {
    builder_.set_phase(node.phase, node.recomputed);
    builder_.set_role(Role::workspace);
    OpWriter writer(builder_, node.name);
    if (has_bias(node)) return product(writer, std::move(node));
    if (node.op == Op::ReduceMean) return mean(writer, std::move(node));
    const TensorId count = number_of_losses(writer, node);
    node.attributes.set(Attr::reduction, std::string("sum"));
    if (is_gradient(node.op)) {
      node.inputs[0] = divided(writer, node.inputs[0], count);
      builder_.edit().add_node(std::move(node));
      return;
    }
    const TensorId result = node.outputs[0];
    node.outputs[0] = copy_of(result, ".total");
    const TensorId total = node.outputs[0];
    builder_.edit().add_node(std::move(node));
    give(divided(writer, total, count), result);
  }

 private:
  // Of the same type, made by another node.
  TensorId copy_of(TensorId id, const char* suffix) {
    const Tensor tensor = builder_.graph()[id];
    const TensorId copy = builder_.edit().add_tensor(
        {.name = {}, .type = tensor.type, .role = tensor.role, .producer = {}, .parameter = false, .updates = {}});
    builder_.rename(copy, tensor.name + suffix);
    return copy;
  }

  // The last node makes `result` in place of `id`.
  void give(TensorId id, TensorId result) {
    Graph& graph = builder_.edit();
    const NodeId last = graph[id].producer;
    graph[last].outputs[0] = result;
    graph[result].producer = last;
  }

  TensorId divided(OpWriter& writer, TensorId value, TensorId count) {
    return writer.over(value, writer.cast(count, writer.type(value)));
  }

  // Of labels that are not ignored, or of elements.
  TensorId number_of_losses(OpWriter& writer, const Node& node) {
    const bool gradient = is_gradient(node.op);
    const TensorId labels = node.inputs[gradient ? 2 : 1];
    const Shape shape = writer.shape(labels);
    if (!is_over_classes(node.op) || !node.attributes.has(Attr::ignore_index))
      return builder_.scalar(ElementType::float32, static_cast<double>(element_count(shape)));
    const auto [entry, fresh] = counts_.try_emplace(labels);
    if (!fresh) return entry->second;
    const TensorId ignored =
        builder_.constant(node.name + ".ignored",
                          Constant::integers(writer.type(labels), {}, {node.attributes.integer(Attr::ignore_index)}));
    const TensorId counts =
        writer.cast(writer.add(Op::Not, {writer.add(Op::Equal, {labels, ignored})}), ElementType::float32);
    std::vector<std::int64_t> axes(shape.size());
    std::iota(axes.begin(), axes.end(), std::int64_t{0});
    return entry->second = writer.reduce_sum(counts, axes, false);
  }

  void mean(OpWriter& writer, Node node) {
    const Shape from = writer.shape(node.inputs[0]);
    std::int64_t count = 1;
    for (std::int64_t axis : node.attributes.integers(Attr::axes)) count *= from[static_cast<std::size_t>(axis)];
    const TensorId result = node.outputs[0];
    node.op = Op::ReduceSum;
    node.outputs[0] = copy_of(result, ".total");
    const TensorId total = node.outputs[0];
    builder_.edit().add_node(std::move(node));
    give(writer.over(total, static_cast<double>(count)), result);
  }

  void product(OpWriter& writer, Node node) {
    TensorId bias = node.inputs[2];
    const TensorId result = node.outputs[0];
    const std::size_t rank = writer.shape(result).size();
    const bool gemm = node.op == Op::Gemm;
    const double beta = gemm ? node.attributes.real_or(Attr::beta, 1.0) : 1.0;
    node.inputs.resize(2);
    node.outputs[0] = copy_of(result, ".product");
    const TensorId value = node.outputs[0];
    builder_.edit().add_node(std::move(node));
    if (beta != 1) bias = writer.times(bias, beta);
    if (!gemm) {
      Shape shape(rank, 1);
      shape[1] = element_count(writer.shape(bias));
      bias = writer.reshape(bias, shape);
    }
    give(writer.plus(value, bias), result);
  }

  GraphBuilder& builder_;
  std::map<TensorId, TensorId> counts_;  // by labels
};

}  // namespace

bool has_parts(const Graph& /*graph*/, const Node& node) {
  // Its places are numbered on each chip for itself: its parts would take them for places in the whole tensor.
  if (node.op == Op::MaxPoolGrad) return false;
  // Its own places of an axis: parts would number them from the first.
  if (node.attributes.has(Attr::mesh)) return false;
  return has_own_parts(node) || (is_expandable(node) && family_of(node.op) != OpFamily::elementwise);
}

Expected<Graph> in_parts(Graph graph, const std::function<bool(const Node&)>& wanted) {
  const std::vector<Node> nodes = graph.nodes();
  std::unordered_map<std::string, bool> rest;
  GraphBuilder builder(std::move(graph));
  builder.edit().set_nodes({});
  Parts parts(builder);
  for (const Node& node : nodes) {
    if (has_own_parts(node) && wanted(node)) {
      parts.write(node);
    } else {
      if (wanted(node)) rest.emplace(node.name, true);
      builder.edit().add_node(node);
    }
  }
  MONET_TRY(Graph result, builder.finish());
  const auto others = [&](const Graph&, const Node& node) { return rest.contains(node.name); };
  return expand(compact(std::move(result)), others);
}

}  // namespace monet::parallel
