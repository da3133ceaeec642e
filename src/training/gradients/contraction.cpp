#include "training/gradient_builder.h"

#include "graph/einsum.h"

#include <numeric>
#include <utility>

namespace monet::training {

namespace {

std::int64_t batch_count(const Shape& shape) { return element_count(std::span(shape).first(shape.size() - 2)); }

// One operand of a product, as it is stored.
struct Factor {
  TensorId id;
  bool transposed;
};

// All leading axes and the rows as one axis: [.., rows, columns] becomes [.. · rows, columns].
TensorId folded(GradientBuilder& g, Factor x) {
  Shape shape = g.shape(x.id);
  if (x.transposed) {
    std::vector<std::int64_t> perm(shape.size());
    std::iota(perm.begin(), perm.end(), 0);
    std::swap(perm[perm.size() - 2], perm.back());
    std::swap(shape[shape.size() - 2], shape.back());
    x.id = g.transpose(x.id, std::move(perm));
  }
  return g.reshape(x.id, {batch_count(shape) * shape[shape.size() - 2], shape.back()});
}

// Y = α A·B  gives  dA = α dY·Bᵀ, stored as A is, whose shape is `own`. Where all batches share one A, their axes are
// contracted together with the columns of Y: one product, as large as the forward one, and no sum after it.
TensorId factor_gradient(GradientBuilder& g, Factor dy, Factor b, const Shape& own, bool transposed, double alpha) {
  if (batch_count(g.shape(dy.id)) == 1) {
    for (Factor* x : {&dy, &b}) {
      const Shape shape = g.shape(x->id);
      x->id = g.reshape(x->id, Shape(shape.end() - 2, shape.end()));
    }
  } else if (batch_count(own) == 1) {
    dy = {folded(g, {dy.id, !dy.transposed}), true};
    b = {folded(g, {b.id, !b.transposed}), true};
  }
  const TensorId product = transposed ? g.matmul(b.id, dy.id, b.transposed, !dy.transposed, alpha)
                                      : g.matmul(dy.id, b.id, dy.transposed, !b.transposed, alpha);
  return batch_count(own) == 1 ? g.reshape(product, own) : product;
}

// Y = α A·B  gives  dA = α dY·Bᵀ and, since Yᵀ = α Bᵀ·Aᵀ, dBᵀ = α dYᵀ·A.
void matmul(GradientBuilder& g) {
  const bool trans_a = g.attributes().integer(Attr::trans_a) != 0;
  const bool trans_b = g.attributes().integer(Attr::trans_b) != 0;
  const double alpha = g.attributes().real(Attr::alpha);
  const TensorId dy = g.output_gradient();
  if (g.needs(0)) {
    g.accumulate(0, factor_gradient(g, {dy, false}, {g.input(1), trans_b}, g.input_shape(0), trans_a, alpha));
  }
  if (g.needs(1)) {
    g.accumulate(1, factor_gradient(g, {dy, true}, {g.input(0), !trans_a}, g.input_shape(1), !trans_b, alpha));
  }
}

// Y = α A·B + β C  gives  dA, dB as above, dC = β dY
void gemm(GradientBuilder& g) {
  matmul(g);
  if (!g.needs(2)) return;
  const TensorId sum = g.sum_to(g.output_gradient(), g.input_shape(2));
  const double beta = g.attributes().real(Attr::beta);
  g.accumulate(2, beta == 1 ? sum : g.times(sum, beta));
}

// The gradient of operand i: dY and the other operands, contracted to the letters that they share with it.
struct EinsumGradient {
  std::string equation;
  std::vector<TensorId> inputs;
  std::string letters;  // of its result
};

EinsumGradient einsum_gradient(GradientBuilder& g, const EinsumEquation& forward, std::size_t i) {
  EinsumGradient result{.equation = forward.output, .inputs = {g.output_gradient()}, .letters = {}};
  for (std::size_t other = 0; other < forward.operands.size(); ++other) {
    if (other == i) continue;
    result.equation += "," + forward.operands[other];
    result.inputs.push_back(g.input(other));
  }
  const auto shape_of = [&](std::size_t operand) { return g.input_shape(operand); };
  for (std::size_t axis = 0; axis < forward.operands[i].size(); ++axis) {
    const char letter = forward.operands[i][axis];
    const bool broadcast = g.input_shape(i)[axis] == 1 && einsum_size(forward, letter, shape_of) != 1;
    if (!broadcast && result.equation.find(letter) != std::string::npos) result.letters += letter;
  }
  result.equation += "->" + result.letters;
  return result;
}

// One operand: no product, the axes only change their order.
TensorId permuted(GradientBuilder& g, const std::string& from, const std::string& to) {
  if (from == to) return g.output_gradient();
  std::vector<std::int64_t> perm;
  for (char letter : to) perm.push_back(static_cast<std::int64_t>(from.find(letter)));
  return g.transpose(g.output_gradient(), std::move(perm));
}

// Y = Σ A·B·…  gives  dA = Σ dY·B·…, the same value along the axes that A alone has.
void einsum(GradientBuilder& g) {
  const EinsumEquation forward = parse_einsum(g.attributes().text(Attr::equation));
  for (std::size_t i = 0; i < forward.operands.size(); ++i) {
    if (!g.needs(i)) continue;
    const EinsumGradient gradient = einsum_gradient(g, forward, i);
    const TensorId sum = gradient.inputs.size() == 1
                             ? permuted(g, forward.output, gradient.letters)
                             : g.add(Op::Einsum, gradient.inputs, {{Attr::equation, gradient.equation}});
    if (g.builder().failed()) return;
    const Shape sizes = g.shape(sum);
    Shape with_ones;
    for (char letter : forward.operands[i]) {
      const std::size_t axis = gradient.letters.find(letter);
      with_ones.push_back(axis == std::string::npos ? 1 : sizes[axis]);
    }
    g.accumulate(i, g.expand(g.reshape(sum, std::move(with_ones)), g.input_shape(i)));
  }
}

// One fused kernel, which computes the probabilities anew from the log-sum-exp of the scores.
void attention(GradientBuilder& g) {
  if (!g.output_gradient(0).valid() || (g.output_count() > 1 && g.output_gradient(1).valid())) {
    return g.fail("the log-sum-exp of attention cannot be differentiated", "train on the attention's first output");
  }
  const TensorId log_sum_exp = g.extra_output(1);
  std::vector<TensorId> inputs = {g.output_gradient(), g.input(0), g.input(1), g.input(2), g.output(), log_sum_exp};
  std::vector<bool> wanted = {true, g.needs(1), g.needs(2)};
  if (g.has_input(3)) inputs.push_back(g.input(3));
  if (g.needs(3)) wanted.push_back(true);
  const std::vector<TensorId> gradients = g.add_some(Op::AttentionGrad, std::move(inputs), g.attributes(), wanted);
  for (std::size_t i = 0; i < gradients.size(); ++i) g.accumulate(i, gradients[i]);
}

}  // namespace

GradientRule contraction_gradient(Op op) {
  switch (op) {
    case Op::MatMul: return matmul;
    case Op::Gemm: return gemm;
    case Op::Einsum: return einsum;
    case Op::Attention: return attention;
    default: return nullptr;
  }
}

}  // namespace monet::training
