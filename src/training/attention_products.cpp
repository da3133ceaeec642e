#include "training/attention_products.h"

#include "base/require.h"
#include "graph/op_writer.h"

#include <algorithm>
#include <limits>

namespace monet::training {

namespace {

// Q[B,H,S,E], K[B,G,T,E], V[B,G,T,F], [mask]; rows of query heads that share a head of keys become further rows of it.
class AttentionProducts {
 public:
  AttentionProducts(GraphBuilder& builder, const Node& node) : node_(node), writer_(builder, node.name) {}

  void write() {
    const Shape query = writer_.shape(node_.inputs[0]);
    const Shape key = writer_.shape(node_.inputs[1]);
    const Shape rows = {query[0], key[1], query[1] / key[1] * query[2], query[3]};
    const double scale = node_.attributes.real(Attr::scale);
    TensorId scores = writer_.matmul(writer_.reshape(node_.inputs[0], rows), node_.inputs[1], false, true, scale);
    scores = writer_.reshape(scores, {query[0], query[1], query[2], key[2]});
    if (const double softcap = node_.attributes.real_or(Attr::softcap, 0); softcap != 0) {
      scores = writer_.times(writer_.add(Op::Tanh, {writer_.over(scores, softcap)}), softcap);
    }
    TensorId shares = writer_.add(Op::Softmax, {masked(scores)}, {{Attr::axes, std::vector<std::int64_t>{3}}});
    shares = writer_.reshape(shares, {rows[0], rows[1], rows[2], key[2]});
    const TensorId product = writer_.matmul(shares, node_.inputs[2]);
    const TensorId result = node_.outputs[0];
    Graph& graph = writer_.builder().edit();
    graph.add_node({.name = node_.name,
                    .op = Op::Reshape,
                    .phase = node_.phase,
                    .attributes = {{Attr::shape, graph[result].type.shape}},
                    .inputs = {product},
                    .outputs = {result}});
  }

 private:
  // −∞ where a row must not look.
  TensorId masked(TensorId scores) {
    const TensorId never = writer_.scalar(-std::numeric_limits<double>::infinity(), scores);
    const Shape shape = writer_.shape(scores);
    if (node_.attributes.integer_or(Attr::is_causal, 0) != 0) {
      const Constant seen{.type = ElementType::boolean,
                          .shape = {shape[2], shape[3]},
                          .pattern = Constant::Pattern::banded,
                          .diagonal = 0,
                          .values = std::vector<std::int64_t>{1, 0}};
      scores = writer_.where(writer_.builder().constant(node_.name + ".causal_mask", seen), scores, never);
    }
    if (node_.inputs.size() < 4 || !node_.inputs[3].valid()) return scores;
    const TensorId mask = node_.inputs[3];
    if (writer_.type(mask) == ElementType::boolean) return writer_.where(mask, scores, never);
    return writer_.plus(scores, writer_.cast(mask, writer_.type(scores)));
  }

  const Node& node_;
  OpWriter writer_;
};

// The log-sum-exp of the scores is nobody's but the fused gradient's.
bool is_written_out(const Node& node) {
  return node.op == Op::Attention && (node.outputs.size() < 2 || !node.outputs[1].valid());
}

}  // namespace

Graph attention_as_products(Graph graph) {
  if (std::ranges::none_of(graph.nodes(), is_written_out)) return graph;
  const std::vector<Node> nodes = graph.nodes();
  GraphBuilder builder(std::move(graph));
  builder.edit().set_nodes({});
  for (const Node& node : nodes) {
    if (is_written_out(node)) {
      AttentionProducts(builder, node).write();
    } else {
      builder.edit().add_node(node);
    }
  }
  auto result = builder.finish();
  MONET_REQUIRE(result.has_value());  // the shapes are those of the attention
  return *std::move(result);
}

}  // namespace monet::training
