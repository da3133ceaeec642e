// Attention as exporters decompose PyTorch's scaled_dot_product_attention:
//   softmax((q·s)(kᵀ·s) + mask) v,  q and k each scaled by the square root of the scale.
// That double scaling is its signature: attention that a model spells out itself scales once, and stays spelt out.
// Where a mask may hide a whole row, exporters put 0 in place of the probabilities that are no numbers there, as the
// operator does.
#include "onnx/idioms/match.h"

#include <algorithm>
#include <cmath>

namespace monet::onnx {

namespace {

bool plain_product(const Node& node) {
  return node.attributes.integer_or(Attr::trans_a, 0) == 0 && node.attributes.integer_or(Attr::trans_b, 0) == 0 &&
         node.attributes.real_or(Attr::alpha, 1) == 1;
}

// x · s with a constant s
std::optional<Matcher::WithScalar> scaled(Matcher& matcher, TensorId id) {
  const Node* product = matcher.made_by(id, Op::Mul);
  return product == nullptr ? std::nullopt : matcher.with_scalar(*product);
}

// k from its transpose: the source of a Transpose or of Reshape, Transpose, Reshape where that undoes it, else a
// transpose of the transpose.
TensorId untransposed(Matcher& matcher, TensorId transposed, const std::string& root) {
  Graph& graph = matcher.graph();
  Shape wanted = matcher.shape(transposed);
  std::swap(wanted[2], wanted[3]);
  TensorId source = transposed;
  std::vector<std::int64_t> perm = {0, 1, 3, 2};
  if (const Node* direct = matcher.made_by(transposed, Op::Transpose)) {
    const auto& first = direct->attributes.integers(Attr::perm);
    perm = {first[0], first[1], first[3], first[2]};
    source = direct->inputs[0];
  } else if (const Node* back = matcher.made_by(transposed, Op::Reshape)) {
    const Node* swap = matcher.made_by(back->inputs[0], Op::Transpose);
    const Node* flat = swap == nullptr ? nullptr : matcher.made_by(swap->inputs[0], Op::Reshape);
    if (flat != nullptr && swap->attributes.integers(Attr::perm) == std::vector<std::int64_t>{0, 2, 1} &&
        matcher.shape(flat->inputs[0]) == wanted &&
        matcher.shape(swap->inputs[0]) == Shape{wanted[0] * wanted[1], wanted[2], wanted[3]}) {
      return flat->inputs[0];
    }
  }
  if (perm == std::vector<std::int64_t>{0, 1, 2, 3}) return source;
  const std::string name = matcher.unused_name(root + "/key");
  const TensorId key = graph.add_tensor({.name = name,
                                         .type = {wanted, graph[source].type.format},
                                         .role = Role::activation,
                                         .producer = {},
                                         .parameter = false,
                                         .updates = {}});
  matcher.before.push_back({.name = name,
                            .op = Op::Transpose,
                            .phase = Phase::forward,
                            .attributes = {{Attr::perm, perm}},
                            .inputs = {source},
                            .outputs = {key}});
  return key;
}

// A mask that lets each position see those up to itself: zeros up to the diagonal, a very negative number above.
bool is_causal(const Constant& mask, const Shape& queries, const Shape& values) {
  const bool whole = mask.shape.size() >= 2 && *(mask.shape.end() - 2) == queries[2] && mask.shape.back() == values[2];
  return whole && mask.pattern == Constant::Pattern::banded && mask.diagonal == 0 && is_floating(mask.type) &&
         mask.real_at(0) == 0 && std::get<std::vector<double>>(mask.values)[1] <= -1e4;
}

const Node* probabilities(Matcher& matcher, TensorId id) {
  const Node* guarded = matcher.made_by(id, Op::Where);
  if (guarded == nullptr) return matcher.made_by(id, Op::Softmax);
  const Node* is_nan = matcher.made_by(guarded->inputs[0], Op::IsNaN);
  const bool guards =
      is_nan != nullptr && is_nan->inputs[0] == guarded->inputs[2] && matcher.is_scalar(guarded->inputs[1], 0);
  return guards ? matcher.made_by(guarded->inputs[2], Op::Softmax) : nullptr;
}

}  // namespace

std::optional<Match> match_attention(Matcher& matcher, NodeId id) {
  if (matcher.graph()[id].op != Op::MatMul || !plain_product(matcher.graph()[id])) return std::nullopt;
  matcher.begin(id);
  const TensorId value = matcher.graph()[id].inputs[1];
  const Node* softmax = probabilities(matcher, matcher.graph()[id].inputs[0]);
  if (softmax == nullptr || matcher.shape(value).size() != 4 ||
      softmax->attributes.integers(Attr::axes) != std::vector<std::int64_t>{3})
    return std::nullopt;
  TensorId scores = softmax->inputs[0];
  TensorId mask;
  if (const Node* masked = matcher.made_by(scores, Op::Add)) {
    const bool left = matcher.made_by(masked->inputs[0], Op::MatMul) != nullptr;
    scores = masked->inputs[left ? 0 : 1];
    mask = masked->inputs[left ? 1 : 0];
  }
  const Node* product = matcher.made_by(scores, Op::MatMul);
  if (product == nullptr || !plain_product(*product)) return std::nullopt;
  const auto query = scaled(matcher, product->inputs[0]);
  const auto key = scaled(matcher, product->inputs[1]);
  if (!query || !key || query->scalar != key->scalar || query->scalar <= 0) return std::nullopt;
  if (matcher.shape(query->value).size() != 4 || matcher.shape(key->value).size() != 4) return std::nullopt;
  const Shape& q = matcher.shape(query->value);
  const Shape& k = matcher.shape(key->value);
  const Shape& v = matcher.shape(value);
  // Batch and heads must be there for each: nothing broadcast.
  if (q[0] != k[0] || q[0] != v[0] || q[1] != k[1] || q[1] != v[1]) return std::nullopt;

  Attributes attributes{
      {Attr::scale, query->scalar * key->scalar}, {Attr::is_causal, std::int64_t{0}}, {Attr::softcap, 0.0}};
  const std::string name = matcher.graph()[id].name;
  std::vector<TensorId> inputs = {query->value, {}, value};
  if (mask.valid()) {
    const Constant* known = matcher.graph().constant(mask);
    if (known != nullptr && is_causal(*known, q, v)) {
      attributes.set(Attr::is_causal, std::int64_t{1});
    } else if (known == nullptr || !known->is_uniformly(0)) {
      inputs.push_back(mask);
    }
  }
  inputs[1] = untransposed(matcher, key->value, name);
  return matcher.finish(Op::Attention, std::move(inputs), std::move(attributes));
}

}  // namespace monet::onnx
