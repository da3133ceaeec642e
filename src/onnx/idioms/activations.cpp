// Activation functions, written as products:
//   GELU        x · ½ · (1 + erf(x/√2));  x · ½ · (1 + tanh(√(2/π) (x + 0.044715 x³)))
//   SiLU        x · sigmoid(x)
//   hard-swish  x · ⅙ · clip(x + 3, 0, 6);  x · hard-sigmoid(x) with ⅙ and ½
#include "onnx/idioms/match.h"

#include <algorithm>
#include <cmath>

namespace monet::onnx {

namespace {

bool near(double value, double wanted) { return std::abs(value - wanted) <= 1e-3 * std::abs(wanted); }

bool is_product(const Product& product, double coefficient, const std::vector<TensorId>& factors) {
  return near(product.coefficient, coefficient) && product.factors == factors;
}

// tanh's argument: √(2/π) (x + 0.044715 x³), or √(2/π) x (1 + 0.044715 x²).
bool is_tanh_argument(Matcher& matcher, TensorId argument, TensorId x) {
  constexpr double scale = 0.7978845608;
  constexpr double cubic = 0.044715;
  const Product product = matcher.product(argument);
  if (!near(product.coefficient, scale) || product.factors.empty() || product.factors.size() > 2) return false;
  const bool factored = product.factors.size() == 2;
  const auto sum_at =
      factored ? std::ranges::find_if(product.factors, [x](TensorId id) { return id != x; }) : product.factors.begin();
  if (sum_at == product.factors.end()) return false;
  const Node* sum = matcher.made_by(*sum_at, Op::Add);
  if (sum == nullptr) return false;
  for (std::size_t i = 0; i < 2; ++i) {
    const Product power = matcher.product(sum->inputs[i]);
    const TensorId rest = sum->inputs[1 - i];
    if (factored && matcher.is_scalar(rest, 1) && is_product(power, cubic, {x, x})) return true;
    if (!factored && rest == x && is_product(power, cubic, {x, x, x})) return true;
  }
  return false;
}

std::optional<Match> match_gelu(Matcher& matcher, TensorId x, TensorId factor) {
  const Node* sum = matcher.made_by(factor, Op::Add);
  if (sum == nullptr) return std::nullopt;
  const auto one = matcher.with_scalar(*sum);
  if (!one || !near(one->scalar, 1)) return std::nullopt;
  if (const Node* erf = matcher.made_by(one->value, Op::Erf)) {
    if (!is_product(matcher.product(erf->inputs[0]), std::sqrt(0.5), {x})) return std::nullopt;
    return matcher.finish(Op::Gelu, {x}, {{Attr::approximate, std::string("none")}});
  }
  const Node* tanh = matcher.made_by(one->value, Op::Tanh);
  if (tanh == nullptr || !is_tanh_argument(matcher, tanh->inputs[0], x)) return std::nullopt;
  return matcher.finish(Op::Gelu, {x}, {{Attr::approximate, std::string("tanh")}});
}

std::optional<Match> match_gate(Matcher& matcher, TensorId x, TensorId gate) {
  if (const Node* sigmoid = matcher.made_by(gate, Op::Sigmoid); sigmoid != nullptr && sigmoid->inputs[0] == x) {
    return matcher.finish(Op::Silu, {x}, {});
  }
  const Node* hard = matcher.made_by(gate, Op::HardSigmoid);
  if (hard == nullptr || hard->inputs[0] != x) return std::nullopt;
  if (!near(hard->attributes.real(Attr::alpha), 1.0 / 6) || !near(hard->attributes.real(Attr::beta), 0.5))
    return std::nullopt;
  return matcher.finish(Op::HardSwish, {x}, {});
}

std::optional<Match> match_clip(Matcher& matcher, TensorId x, TensorId clipped) {
  const Node* clip = matcher.made_by(clipped, Op::Clip);
  if (clip == nullptr || clip->attributes.real_or(Attr::min, -1) != 0 ||
      !near(clip->attributes.real_or(Attr::max, 0), 6))
    return std::nullopt;
  const Node* sum = matcher.made_by(clip->inputs[0], Op::Add);
  if (sum == nullptr) return std::nullopt;
  const auto three = matcher.with_scalar(*sum);
  if (!three || three->value != x || !near(three->scalar, 3)) return std::nullopt;
  return matcher.finish(Op::HardSwish, {x}, {});
}

}  // namespace

std::optional<Match> match_activation(Matcher& matcher, NodeId node) {
  const Op op = matcher.graph()[node].op;
  if (op != Op::Mul && op != Op::Div) return std::nullopt;
  const TensorId output = matcher.graph()[node].outputs[0];
  for (std::size_t i = 0; i < 2; ++i) {
    matcher.begin(node);
    const Product product = matcher.product(output);
    if (product.factors.size() != 2) return std::nullopt;
    const TensorId x = product.factors[i];
    const TensorId other = product.factors[1 - i];
    // A factor broadcast against the other is something else.
    if (matcher.shape(x) != matcher.shape(other)) return std::nullopt;
    std::optional<Match> match;
    if (near(product.coefficient, 0.5)) match = match_gelu(matcher, x, other);
    if (near(product.coefficient, 1)) match = match_gate(matcher, x, other);
    if (near(product.coefficient, 1.0 / 6)) match = match_clip(matcher, x, other);
    if (match) return match;
  }
  return std::nullopt;
}

}  // namespace monet::onnx
