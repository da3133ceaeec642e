#include "training/gradient_builder.h"

#include <numbers>
#include <optional>

namespace monet::training {

namespace {

// dX = GRADIENT(dY, X): one fused operator, with the attributes of the forward one.
template <Op gradient>
void fused_from_input(GradientBuilder& g) {
  g.accumulate(0, g.add(gradient, {g.output_gradient(), g.input()}, g.attributes()));
}

// dX = GRADIENT(dY, Y)
template <Op gradient>
void fused_from_output(GradientBuilder& g) {
  g.accumulate(0, g.add(gradient, {g.output_gradient(), g.output()}));
}

// dX = dY · factor
void scale(GradientBuilder& g, TensorId factor) { g.accumulate(0, g.times(g.output_gradient(), factor)); }

// dX = dY / divisor
void divide(GradientBuilder& g, TensorId divisor) { g.accumulate(0, g.over(g.output_gradient(), divisor)); }

TensorId sqrt(GradientBuilder& g, TensorId x) { return g.add(Op::Sqrt, {x}); }

// dX = dY where the condition holds
void select(GradientBuilder& g, TensorId condition) {
  const TensorId dy = g.output_gradient();
  g.accumulate(0, g.where(condition, dy, g.scalar(0, dy)));
}

// dX = dY: the identity, but for the type
void cast(GradientBuilder& g) { g.accumulate(0, g.output_gradient()); }

void neg(GradientBuilder& g) { g.accumulate(0, g.negative(g.output_gradient())); }

// dX = dY · sign(X)
void abs(GradientBuilder& g) { scale(g, g.add(Op::Sign, {g.input()})); }

// dX = −dY / √(1 − X²)
void acos(GradientBuilder& g) { divide(g, g.negative(sqrt(g, g.minus(1, g.square(g.input()))))); }

// dX = dY / √(1 − X²)
void asin(GradientBuilder& g) { divide(g, sqrt(g, g.minus(1, g.square(g.input())))); }

// dX = dY / (1 + X²)
void atan(GradientBuilder& g) { divide(g, g.plus(g.square(g.input()), 1)); }

// dX = dY / √(X² − 1)
void acosh(GradientBuilder& g) { divide(g, sqrt(g, g.plus(g.square(g.input()), -1))); }

// dX = dY / √(X² + 1)
void asinh(GradientBuilder& g) { divide(g, sqrt(g, g.plus(g.square(g.input()), 1))); }

// dX = dY / (1 − X²)
void atanh(GradientBuilder& g) { divide(g, g.minus(1, g.square(g.input()))); }

// dX = −dY · sin(X)
void cos(GradientBuilder& g) { scale(g, g.negative(g.add(Op::Sin, {g.input()}))); }

// dX = dY · cos(X)
void sin(GradientBuilder& g) { scale(g, g.add(Op::Cos, {g.input()})); }

// dX = dY · (1 + Y²)
void tan(GradientBuilder& g) { scale(g, g.plus(g.square(g.output()), 1)); }

// dX = dY · sinh(X)
void cosh(GradientBuilder& g) { scale(g, g.add(Op::Sinh, {g.input()})); }

// dX = dY · cosh(X)
void sinh(GradientBuilder& g) { scale(g, g.add(Op::Cosh, {g.input()})); }

// dX = dY · 2/√π · exp(−X²)
void erf(GradientBuilder& g) {
  const TensorId bell = g.add(Op::Exp, {g.negative(g.square(g.input()))});
  scale(g, g.times(bell, 2 * std::numbers::inv_sqrtpi));
}

// dX = dY · Y
void exp(GradientBuilder& g) { scale(g, g.output()); }

// dX = dY / X
void log(GradientBuilder& g) { divide(g, g.input()); }

// dX = −dY · Y²
void reciprocal(GradientBuilder& g) { scale(g, g.negative(g.square(g.output()))); }

// dX = dY / 2Y
void square_root(GradientBuilder& g) { divide(g, g.times(g.output(), 2)); }

// dX = dY where |X| > λ
void shrink(GradientBuilder& g) {
  const TensorId size = g.add(Op::Abs, {g.input()});
  select(g, g.add(Op::Greater, {size, g.scalar(g.attributes().real(Attr::lambd), size)}));
}

// dX = dY / (1 + |X|)²
void softsign(GradientBuilder& g) { divide(g, g.square(g.plus(g.add(Op::Abs, {g.input()}), 1))); }

// dX = dY where X > α
void thresholded_relu(GradientBuilder& g) {
  const TensorId x = g.input();
  select(g, g.add(Op::Greater, {x, g.scalar(g.attributes().real(Attr::alpha), x)}));
}

// Null: the operator is no function of one input, or cannot be differentiated.
GradientRule unary_gradient(Op op) {
  switch (op) {
    case Op::Abs: return abs;
    case Op::Acos: return acos;
    case Op::Acosh: return acosh;
    case Op::Asin: return asin;
    case Op::Asinh: return asinh;
    case Op::Atan: return atan;
    case Op::Atanh: return atanh;
    case Op::Cast: return cast;
    case Op::Celu: return fused_from_input<Op::CeluGrad>;
    case Op::Clip: return fused_from_input<Op::ClipGrad>;
    case Op::Cos: return cos;
    case Op::Cosh: return cosh;
    case Op::Elu: return fused_from_input<Op::EluGrad>;
    case Op::Erf: return erf;
    case Op::Exp: return exp;
    case Op::Gelu: return fused_from_input<Op::GeluGrad>;
    case Op::HardSigmoid: return fused_from_input<Op::HardSigmoidGrad>;
    case Op::HardSwish: return fused_from_input<Op::HardSwishGrad>;
    case Op::LeakyRelu: return fused_from_input<Op::LeakyReluGrad>;
    case Op::Log: return log;
    case Op::Mish: return fused_from_input<Op::MishGrad>;
    case Op::Neg: return neg;
    case Op::Reciprocal: return reciprocal;
    case Op::Relu: return fused_from_output<Op::ReluGrad>;
    case Op::Selu: return fused_from_input<Op::SeluGrad>;
    case Op::Shrink: return shrink;
    case Op::Sigmoid: return fused_from_output<Op::SigmoidGrad>;
    case Op::Silu: return fused_from_input<Op::SiluGrad>;
    case Op::Sin: return sin;
    case Op::Sinh: return sinh;
    case Op::Softplus: return fused_from_input<Op::SoftplusGrad>;
    case Op::Softsign: return softsign;
    case Op::Sqrt: return square_root;
    case Op::Tan: return tan;
    case Op::Tanh: return fused_from_output<Op::TanhGrad>;
    case Op::ThresholdedRelu: return thresholded_relu;
    case Op::BitwiseNot:
    case Op::Ceil:
    case Op::Floor:
    case Op::IsInf:
    case Op::IsNaN:
    case Op::Not:
    case Op::Round:
    case Op::Sign: return zero_gradient;
    default: return nullptr;
  }
}

// Y = A + B + …  gives  dA = dB = … = dY
void sum(GradientBuilder& g) {
  for (std::size_t i = 0; i < g.input_count(); ++i) g.accumulate(i, g.output_gradient());
}

// Y = A − B  gives  dA = dY, dB = −dY
void sub(GradientBuilder& g) {
  g.accumulate(0, g.output_gradient());
  if (g.needs(1)) g.accumulate(1, g.negative(g.output_gradient()));
}

// Y = A · B  gives  dA = dY · B, dB = dY · A
void mul(GradientBuilder& g) {
  if (g.needs(0)) g.accumulate(0, g.times(g.output_gradient(), g.input(1)));
  if (g.needs(1)) g.accumulate(1, g.times(g.output_gradient(), g.input(0)));
}

// Y = A / B  gives  dA = dY / B, dB = −dY · (A/B)/B
void div(GradientBuilder& g) {
  const TensorId dy = g.output_gradient();
  const TensorId b = g.input(1);
  if (g.needs(0)) g.accumulate(0, g.over(dy, b));
  if (g.needs(1)) g.accumulate(1, g.times(g.negative(dy), g.over(g.over(g.input(0), b), b)));
}

// Y = (A + B + …) / n  gives  dA = dB = … = dY / n
void mean(GradientBuilder& g) {
  const TensorId share = g.over(g.output_gradient(), static_cast<double>(g.input_count()));
  for (std::size_t i = 0; i < g.input_count(); ++i) g.accumulate(i, share);
}

// Y = A − B · q, where q is A/B without its fraction  gives  dA = dY, dB = −dY · q
void mod(GradientBuilder& g) {
  g.accumulate(0, g.output_gradient());
  if (!g.needs(1)) return;
  const TensorId quotient = g.over(g.input(0), g.input(1));
  const bool towards_zero = g.attributes().integer(Attr::fmod) != 0;
  const TensorId whole = towards_zero
                             ? g.times(g.add(Op::Sign, {quotient}), g.add(Op::Floor, {g.add(Op::Abs, {quotient})}))
                             : g.add(Op::Floor, {quotient});
  g.accumulate(1, g.times(g.negative(g.output_gradient()), whole));
}

// The part of dY that goes to `a` where Y = max(a, b), or min: all, none, or half of it where they are equal.
TensorId share_of(GradientBuilder& g, TensorId dy, TensorId a, TensorId b) {
  const TensorId loses = g.add(g.op() == Op::Max ? Op::Less : Op::Greater, {a, b});
  const TensorId of_winner = g.where(g.add(Op::Equal, {a, b}), g.over(dy, 2), dy);
  return g.where(loses, g.scalar(0, dy), of_winner);
}

// Y = max(A, B), or min. With more inputs max(max(A, B), C) …, whose inner maxima are computed again.
void extreme(GradientBuilder& g) {
  std::vector<TensorId> best = {g.input(0)};
  for (std::size_t i = 1; i + 1 < g.input_count(); ++i) best.push_back(g.add(g.op(), {best.back(), g.input(i)}));
  std::vector<bool> needed = {g.needs(0)};
  for (std::size_t i = 1; i < g.input_count(); ++i) needed.push_back(needed.back() || g.needs(i));
  TensorId dy = g.output_gradient();
  for (std::size_t i = g.input_count() - 1; i > 0; --i) {
    if (g.needs(i)) g.accumulate(i, share_of(g, dy, g.input(i), best[i - 1]));
    if (!needed[i - 1]) return;
    dy = share_of(g, dy, best[i - 1], g.input(i));
  }
  g.accumulate(0, dy);
}

// The value of an input that is known and everywhere the same.
std::optional<double> uniform(const GradientBuilder& g, std::size_t input) {
  const Constant* constant = g.constant(input);
  if (constant == nullptr || element_count(constant->shape) == 0) return std::nullopt;
  const double value = constant->real_at(0);
  return constant->is_uniformly(value) ? std::optional(value) : std::nullopt;
}

// Xᵖ for a known p that is not 0
TensorId known_power(GradientBuilder& g, TensorId x, double p) {
  if (p == 1) return x;
  return p == 2 ? g.square(x) : g.add(Op::Pow, {x, g.scalar(p, x)});
}

// Y = Aᵇ  gives  dA = dY · b · A^(b−1), and 0 where b = 0
void power_of_base(GradientBuilder& g) {
  const TensorId dy = g.output_gradient();
  if (const auto b = uniform(g, 1)) {
    if (*b == 0) return;
    g.accumulate(0, *b == 1 ? dy : g.times(dy, g.times(known_power(g, g.input(0), *b - 1), *b)));
    return;
  }
  const TensorId a = g.input(0);
  const TensorId b = g.cast(g.input(1), g.type(a));
  const TensorId zero = g.scalar(0, a);
  const TensorId slope = g.times(b, g.add(Op::Pow, {a, g.plus(b, -1)}));
  g.accumulate(0, g.where(g.add(Op::Equal, {b, zero}), zero, g.times(dy, slope)));
}

// Y = Aᵇ  gives  db = dY · Y · log(A), and 0 where A = 0 and b ≥ 0
void power_of_exponent(GradientBuilder& g) {
  const TensorId a = g.input(0);
  const TensorId slope = g.times(g.output(), g.add(Op::Log, {a}));
  const TensorId gradient = g.times(g.output_gradient(), slope);
  g.keep(g.input(1));
  if (const auto base = uniform(g, 0); base && *base != 0) {
    g.accumulate(1, gradient);
    return;
  }
  const TensorId b = g.cast(g.input(1), g.type(a));
  const TensorId zero = g.scalar(0, a);
  const TensorId flat = g.add(Op::And, {g.add(Op::Equal, {a, zero}), g.add(Op::GreaterOrEqual, {b, zero})});
  g.accumulate(1, g.where(flat, zero, gradient));
}

void pow(GradientBuilder& g) {
  if (g.needs(0)) power_of_base(g);
  if (g.needs(1)) power_of_exponent(g);
}

// Y = X where X > 0, else slope · X
void prelu(GradientBuilder& g) {
  const TensorId dy = g.output_gradient();
  const TensorId x = g.input(0);
  const TensorId positive = g.add(Op::Greater, {x, g.scalar(0, x)});
  if (g.needs(0)) g.accumulate(0, g.where(positive, dy, g.times(dy, g.input(1))));
  if (g.needs(1)) g.accumulate(1, g.where(positive, g.scalar(0, x), g.times(dy, x)));
}

// Y = A where the condition holds, else B  gives  each its part of dY
void where(GradientBuilder& g) {
  const TensorId dy = g.output_gradient();
  const TensorId condition = g.input(0);
  if (g.needs(1)) g.accumulate(1, g.where(condition, dy, g.scalar(0, dy)));
  if (g.needs(2)) g.accumulate(2, g.where(condition, g.scalar(0, dy), dy));
}

}  // namespace

GradientRule elementwise_gradient(Op op) {
  switch (op) {
    case Op::Add:
    case Op::Sum: return sum;
    case Op::Div: return div;
    case Op::Max:
    case Op::Min: return extreme;
    case Op::Mean: return mean;
    case Op::Mod: return mod;
    case Op::Mul: return mul;
    case Op::Pow: return pow;
    case Op::PRelu: return prelu;
    case Op::Sub: return sub;
    case Op::Where: return where;
    case Op::And:
    case Op::BitShift:
    case Op::BitwiseAnd:
    case Op::BitwiseOr:
    case Op::BitwiseXor:
    case Op::Equal:
    case Op::Greater:
    case Op::GreaterOrEqual:
    case Op::Less:
    case Op::LessOrEqual:
    case Op::Or:
    case Op::Xor: return zero_gradient;
    default: return unary_gradient(op);
  }
}

}  // namespace monet::training
