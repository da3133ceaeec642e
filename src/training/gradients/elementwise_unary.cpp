#include "training/gradients/elementwise_unary.h"

#include <numbers>

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

}  // namespace

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

}  // namespace monet::training
