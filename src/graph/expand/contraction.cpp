#include "graph/expand.h"

#include <limits>
#include <numeric>
#include <utility>

namespace monet {

namespace {

TensorId transpose_matrices(Expansion& e, TensorId x) {
  std::vector<std::int64_t> perm(e.shape(x).size());
  std::iota(perm.begin(), perm.end(), 0);
  std::swap(perm[perm.size() - 2], perm.back());
  return e.transpose(x, std::move(perm));
}

// ONNX's product transposes and scales nothing.
void matmul(Expansion& e) {
  const double alpha = e.attributes().real(Attr::alpha);
  TensorId a = e.input(0);
  TensorId b = e.input(1);
  if (e.attributes().integer(Attr::trans_a) != 0) a = transpose_matrices(e, a);
  if (e.attributes().integer(Attr::trans_b) != 0) b = transpose_matrices(e, b);
  const TensorId product = e.matmul(a, b);
  e.output(0, alpha == 1 ? product : e.times(product, alpha));
}

// Q[B,H,S,E], K[B,G,T,E], V[B,G,T,F] and a mask that may be absent.
struct AttentionInputs {
  TensorId query;
  TensorId key;
  TensorId value;
  TensorId mask;
};

// [B, H, S, C] as [B, G, H/G · S, C]: query heads that share a head of keys become further rows of it.
TensorId grouped(Expansion& e, const AttentionInputs& in, TensorId x) {
  const Shape shape = e.shape(x);
  const std::int64_t groups = e.shape(in.key)[1];
  return e.reshape(x, {shape[0], groups, shape[1] / groups * shape[2], shape[3]});
}

// Products of rows with all keys or values, [B, H, S, T].
TensorId score_shaped(Expansion& e, const AttentionInputs& in, TensorId x) {
  const Shape query = e.shape(in.query);
  return e.reshape(x, {query[0], query[1], query[2], e.shape(in.key)[2]});
}

// softcap · tanh(scale · Q·Kᵀ / softcap)
TensorId capped_scores(Expansion& e, const AttentionInputs& in) {
  const double softcap = e.attributes().real_or(Attr::softcap, 0);
  const TensorId product = e.matmul(grouped(e, in, in.query), in.key, false, true, e.attributes().real(Attr::scale));
  const TensorId scores = score_shaped(e, in, product);
  return softcap == 0 ? scores : e.times(e.add(Op::Tanh, {e.over(scores, softcap)}), softcap);
}

// −∞ where a row must not look.
TensorId masked(Expansion& e, const AttentionInputs& in, TensorId scores) {
  const TensorId never = e.scalar(-std::numeric_limits<double>::infinity(), scores);
  if (e.attributes().integer_or(Attr::is_causal, 0) != 0) {
    const Shape shape = e.shape(scores);
    const Constant seen{.type = ElementType::boolean,
                        .shape = {shape[2], shape[3]},
                        .pattern = Constant::Pattern::banded,
                        .diagonal = 0,
                        .values = std::vector<std::int64_t>{1, 0}};
    scores = e.where(e.builder().constant("causal_mask", seen), scores, never);
  }
  if (!in.mask.valid()) return scores;
  if (e.type(in.mask) == ElementType::boolean) return e.where(in.mask, scores, never);
  return e.plus(scores, e.cast(in.mask, e.type(scores)));
}

// P = exp(S − max) / Σ exp(S − max), Y = P·V, log-sum-exp = max + log Σ. A row that is masked as a whole gives zeros.
void attention(Expansion& e) {
  const AttentionInputs in = {e.input(0), e.input(1), e.input(2), e.has(3) ? e.input(3) : TensorId()};
  const TensorId scores = masked(e, in, capped_scores(e, in));
  const Attributes along_keys = {{Attr::axes, std::vector<std::int64_t>{3}}, {Attr::keepdims, std::int64_t{1}}};
  TensorId maximum = e.add(Op::ReduceMax, {scores}, along_keys);
  TensorId sees_any;
  if (in.mask.valid()) {
    sees_any = e.add(Op::Greater, {maximum, e.scalar(-std::numeric_limits<double>::infinity(), maximum)});
    maximum = e.where(sees_any, maximum, e.scalar(0, maximum));
  }
  const TensorId exponentials = e.add(Op::Exp, {e.minus(scores, maximum)});
  TensorId sum = e.reduce_sum(exponentials, {3}, true);
  if (sees_any.valid()) sum = e.where(sees_any, sum, e.scalar(1, sum));
  Shape shape = e.shape(in.query);
  shape.back() = e.shape(in.value).back();
  const TensorId weighted = e.matmul(grouped(e, in, e.over(exponentials, sum)), in.value);
  e.output(0, e.reshape(weighted, shape));
  shape.pop_back();
  if (e.wants(1)) e.output(1, e.reshape(e.plus(maximum, e.add(Op::Log, {sum})), shape));
}

// P = exp(S − log-sum-exp);  dV = Pᵀ·dY;  dS = P ∘ (dY·Vᵀ − rowsum(dY ∘ Y));  dQ = scale dS·K;  dK = scale dSᵀ·Q
void attention_grad(Expansion& e) {
  const AttentionInputs in = {e.input(1), e.input(2), e.input(3), e.has(6) ? e.input(6) : TensorId()};
  const TensorId dy = e.input(0);
  const double scale = e.attributes().real(Attr::scale);
  const double softcap = e.attributes().real_or(Attr::softcap, 0);
  const TensorId capped = capped_scores(e, in);
  const TensorId scores = masked(e, in, capped);
  Shape column = e.input_shape(5);
  column.push_back(1);
  const TensorId p = e.add(Op::Exp, {e.minus(scores, e.reshape(e.input(5), column))});
  if (e.wants(2)) e.output(2, e.matmul(grouped(e, in, p), grouped(e, in, dy), true, false));

  const TensorId dp = score_shaped(e, in, e.matmul(grouped(e, in, dy), in.value, false, true));
  const TensorId row_dot = e.reduce_sum(e.times(dy, e.input(4)), {3}, true);
  TensorId ds = e.times(p, e.minus(dp, row_dot));
  if (e.wants(3)) e.output(3, e.cast(e.sum_to(ds, e.shape(in.mask)), e.type(in.mask)));
  // tanh' = 1 − tanh²
  if (softcap != 0) ds = e.times(ds, e.minus(1, e.square(e.over(capped, softcap))));
  const TensorId rows = grouped(e, in, ds);
  e.output(0, e.reshape(e.matmul(rows, in.key, false, false, scale), e.shape(in.query)));
  if (e.wants(1)) e.output(1, e.matmul(rows, grouped(e, in, in.query), true, false, scale));
}

}  // namespace

ExpansionRule contraction_expansion(Op op) {
  switch (op) {
    case Op::MatMul: return matmul;
    case Op::Attention: return attention;
    case Op::AttentionGrad: return attention_grad;
    default: return nullptr;
  }
}

}  // namespace monet
