// Derivatives of activations as PyTorch has them, also where they jump. Products are ordered so that a large |x| meets
// no 0 · infinity.
#include "graph/expand.h"

#include <cmath>
#include <numbers>

namespace monet {

namespace {

TensorId sigmoid(Expansion& e, TensorId x) { return e.add(Op::Sigmoid, {x}); }

// dX = dY · slope
void scale(Expansion& e, TensorId slope) { e.output(0, e.times(e.input(0), slope)); }

// dX = dY · slope where X ≤ 0, else dY · otherwise
void bend_at_zero(Expansion& e, TensorId slope, double otherwise) {
  const TensorId x = e.input(1);
  scale(e, e.where(e.add(Op::LessOrEqual, {x, e.scalar(0, x)}), slope, e.scalar(otherwise, x)));
}

// dX = dY · exp(X/α) where X ≤ 0, else dY
void celu_grad(Expansion& e) {
  bend_at_zero(e, e.add(Op::Exp, {e.over(e.input(1), e.attributes().real(Attr::alpha))}), 1);
}

// dX = dY · α exp(X) where X ≤ 0, else dY
void elu_grad(Expansion& e) {
  bend_at_zero(e, e.times(e.add(Op::Exp, {e.input(1)}), e.attributes().real(Attr::alpha)), 1);
}

// dX = dY · γα exp(X) where X ≤ 0, else dY · γ
void selu_grad(Expansion& e) {
  const double gamma = e.attributes().real(Attr::gamma);
  bend_at_zero(e, e.times(e.add(Op::Exp, {e.input(1)}), gamma * e.attributes().real(Attr::alpha)), gamma);
}

// dX = dY · α where X ≤ 0, else dY
void leaky_relu_grad(Expansion& e) { bend_at_zero(e, e.scalar(e.attributes().real(Attr::alpha), e.input(1)), 1); }

// dX = dY where X lies between the bounds, and 0 on them
void clip_grad(Expansion& e) {
  const TensorId x = e.input(1);
  TensorId inside;
  if (e.attributes().has(Attr::min)) inside = e.add(Op::Greater, {x, e.scalar(e.attributes().real(Attr::min), x)});
  if (e.attributes().has(Attr::max)) {
    const TensorId below = e.add(Op::Less, {x, e.scalar(e.attributes().real(Attr::max), x)});
    inside = inside.valid() ? e.add(Op::And, {inside, below}) : below;
  }
  e.output(0, inside.valid() ? e.where(inside, e.input(0), e.scalar(0, x)) : e.input(0));
}

// dX = dY · (Φ(X) + X φ(X)), Φ and φ the normal distribution and its density
void gelu_grad_exact(Expansion& e) {
  using namespace std::numbers;
  const TensorId x = e.input(1);
  const TensorId erf = e.add(Op::Erf, {e.times(x, 1 / sqrt2)});
  const TensorId below = e.times(e.plus(erf, 1), 0.5);
  const TensorId density = e.times(e.add(Op::Exp, {e.times(e.square(x), -0.5)}), inv_sqrtpi / sqrt2);
  scale(e, e.plus(below, e.times(x, density)));
}

// T = tanh(k (X + c X³))  gives  dX = dY · ½ (1 + T + k (P + 3c X² P)), P = X (1 − T²)
void gelu_grad_tanh(Expansion& e) {
  constexpr double c = 0.044715;
  const double k = std::sqrt(2 / std::numbers::pi);
  const TensorId x = e.input(1);
  const TensorId t = e.add(Op::Tanh, {e.times(e.times(e.plus(e.times(e.square(x), c), 1), x), k)});
  const TensorId p = e.times(x, e.minus(1, e.square(t)));
  const TensorId inner = e.plus(p, e.times(e.times(x, e.times(x, p)), 3 * c));
  scale(e, e.plus(e.times(e.plus(t, 1), 0.5), e.times(inner, 0.5 * k)));
}

void gelu_grad(Expansion& e) {
  e.attributes().text(Attr::approximate) == "tanh" ? gelu_grad_tanh(e) : gelu_grad_exact(e);
}

// dX = dY · α where 0 < αX + β < 1
void hard_sigmoid_grad(Expansion& e) {
  const TensorId x = e.input(1);
  const double alpha = e.attributes().real(Attr::alpha);
  const TensorId y = e.plus(e.times(x, alpha), e.attributes().real(Attr::beta));
  const TensorId inside =
      e.add(Op::And, {e.add(Op::Greater, {y, e.scalar(0, y)}), e.add(Op::Less, {y, e.scalar(1, y)})});
  scale(e, e.where(inside, e.scalar(alpha, x), e.scalar(0, x)));
}

// dX = dY · (X/3 + ½) where −3 < X < 3; 0 before, dY after
void hard_swish_grad(Expansion& e) {
  const TensorId x = e.input(1);
  const TensorId slope = e.plus(e.times(x, 1.0 / 3), 0.5);
  const TensorId before = e.add(Op::LessOrEqual, {x, e.scalar(-3, x)});
  const TensorId within = e.add(Op::Less, {x, e.scalar(3, x)});
  scale(e, e.where(before, e.scalar(0, x), e.where(within, slope, e.scalar(1, x))));
}

// T = tanh(softplus(X)), S = sigmoid(X)  gives  dX = dY · (T + X S (1 − T²))
void mish_grad(Expansion& e) {
  const TensorId x = e.input(1);
  const TensorId t = e.add(Op::Tanh, {e.add(Op::Softplus, {x})});
  scale(e, e.plus(t, e.times(e.times(x, sigmoid(e, x)), e.minus(1, e.square(t)))));
}

// dX = dY where Y > 0
void relu_grad(Expansion& e) {
  const TensorId y = e.input(1);
  e.output(0, e.where(e.add(Op::Greater, {y, e.scalar(0, y)}), e.input(0), e.scalar(0, e.input(0))));
}

// dX = dY · Y · (1 − Y)
void sigmoid_grad(Expansion& e) {
  const TensorId y = e.input(1);
  e.output(0, e.times(e.times(e.input(0), y), e.minus(1, y)));
}

// Y = X · sigmoid(X)
void silu(Expansion& e) { e.output(0, e.times(e.input(0), sigmoid(e, e.input(0)))); }

// S = sigmoid(X)  gives  dX = dY · S · (1 + X (1 − S))
void silu_grad(Expansion& e) {
  const TensorId s = sigmoid(e, e.input(1));
  scale(e, e.times(s, e.plus(e.times(e.input(1), e.minus(1, s)), 1)));
}

// dX = dY · sigmoid(X)
void softplus_grad(Expansion& e) { scale(e, sigmoid(e, e.input(1))); }

// dX = dY · (1 − Y²)
void tanh_grad(Expansion& e) { scale(e, e.minus(1, e.square(e.input(1)))); }

}  // namespace

ExpansionRule elementwise_expansion(Op op) {
  switch (op) {
    case Op::CeluGrad: return celu_grad;
    case Op::ClipGrad: return clip_grad;
    case Op::EluGrad: return elu_grad;
    case Op::GeluGrad: return gelu_grad;
    case Op::HardSigmoidGrad: return hard_sigmoid_grad;
    case Op::HardSwishGrad: return hard_swish_grad;
    case Op::LeakyReluGrad: return leaky_relu_grad;
    case Op::MishGrad: return mish_grad;
    case Op::ReluGrad: return relu_grad;
    case Op::SeluGrad: return selu_grad;
    case Op::SigmoidGrad: return sigmoid_grad;
    case Op::Silu: return silu;
    case Op::SiluGrad: return silu_grad;
    case Op::SoftplusGrad: return softplus_grad;
    case Op::TanhGrad: return tanh_grad;
    default: return nullptr;
  }
}

}  // namespace monet
