// Norms over the last axes, spelt out:
//   layer norm  d / sqrt(mean(d²) + ε) [· scale] [+ bias]  with d = x − mean(x)
//   RMS norm    x / sqrt(mean(x²) + ε) [· scale]
// where dividing may be multiplying with a reciprocal, a square may be a product or a power.
#include "onnx/idioms/match.h"

#include <algorithm>
#include <numeric>

namespace monet::onnx {

namespace {

struct Deviation {
  TensorId centred;  // what is squared and averaged
  std::int64_t axis = 0;
  double epsilon = 0;
};

// The first of the last axes that a mean is taken over; nothing when it is over others.
std::optional<std::int64_t> first_of_last_axes(const Matcher& matcher, const Node& mean) {
  const auto rank = static_cast<std::int64_t>(matcher.shape(mean.inputs[0]).size());
  const auto& axes = mean.attributes.integers(Attr::axes);
  const std::int64_t first = rank - static_cast<std::int64_t>(axes.size());
  std::vector<std::int64_t> last(axes.size());
  std::iota(last.begin(), last.end(), first);
  if (axes.empty() || axes != last || mean.attributes.integer(Attr::keepdims) == 0) return std::nullopt;
  return first;
}

// sqrt(mean(d²) + ε)
std::optional<Deviation> match_root(Matcher& matcher, TensorId sum) {
  const Node* added = matcher.made_by(sum, Op::Add);
  if (added == nullptr) return std::nullopt;
  const auto epsilon = matcher.with_scalar(*added);
  if (!epsilon || epsilon->scalar <= 0 || epsilon->scalar > 0.1) return std::nullopt;
  const Node* mean = matcher.made_by(epsilon->value, Op::ReduceMean);
  if (mean == nullptr) return std::nullopt;
  const auto axis = first_of_last_axes(matcher, *mean);
  const Product square = matcher.product(mean->inputs[0]);
  if (!axis || square.coefficient != 1 || square.factors.size() != 2 || square.factors[0] != square.factors[1])
    return std::nullopt;
  return Deviation{square.factors[0], *axis, epsilon->scalar};
}

// The denominator of `node`, which divides `numerator` by a root or multiplies it with the inverse of one.
std::optional<Deviation> match_division(Matcher& matcher, const Node& node, TensorId& numerator) {
  if (node.op == Op::Div) {
    numerator = node.inputs[0];
    const Node* root = matcher.made_by(node.inputs[1], Op::Sqrt);
    return root == nullptr ? std::nullopt : match_root(matcher, root->inputs[0]);
  }
  for (std::size_t i = 0; i < 2; ++i) {
    numerator = node.inputs[1 - i];
    if (const Node* inverse = matcher.made_by(node.inputs[i], Op::Reciprocal)) {
      const Node* root = matcher.made_by(inverse->inputs[0], Op::Sqrt);
      if (root != nullptr) return match_root(matcher, root->inputs[0]);
    }
    if (const Node* inverse = matcher.made_by(node.inputs[i], Op::Div);
        inverse != nullptr && matcher.is_scalar(inverse->inputs[0], 1)) {
      const Node* root = matcher.made_by(inverse->inputs[1], Op::Sqrt);
      if (root != nullptr) return match_root(matcher, root->inputs[0]);
    }
    if (const Node* power = matcher.made_by(node.inputs[i], Op::Pow);
        power != nullptr && matcher.is_scalar(power->inputs[1], -0.5)) {
      return match_root(matcher, power->inputs[0]);
    }
  }
  return std::nullopt;
}

// The tensor that the reader `op` of the root combines it with, if that spans the normalized axes; the root moves on.
TensorId take_affine(Matcher& matcher, Op op, std::int64_t axis) {
  const auto combined = matcher.root_combined_by(op);
  if (!combined) return {};
  const Shape& full = matcher.shape(matcher.graph()[matcher.root()].outputs[0]);
  const Shape normalized(full.begin() + axis, full.end());
  if (matcher.shape(combined->other) != normalized || matcher.graph()[combined->other].producer.valid()) return {};
  matcher.extend(combined->reader);
  return combined->other;
}

}  // namespace

std::optional<Match> match_norm(Matcher& matcher, NodeId id) {
  const Node& node = matcher.graph()[id];
  if (node.op != Op::Div && node.op != Op::Mul) return std::nullopt;
  matcher.begin(id);
  TensorId numerator;
  const auto deviation = match_division(matcher, node, numerator);
  if (!deviation || numerator != deviation->centred) return std::nullopt;

  TensorId x = numerator;
  bool centred = false;
  if (const Node* difference = matcher.made_by(numerator, Op::Sub)) {
    const Node* mean = matcher.made_by(difference->inputs[1], Op::ReduceMean);
    if (mean != nullptr && mean->inputs[0] == difference->inputs[0] &&
        first_of_last_axes(matcher, *mean) == deviation->axis) {
      x = difference->inputs[0];
      centred = true;
    }
  }
  Attributes attributes{{Attr::axis, deviation->axis}, {Attr::epsilon, deviation->epsilon}};
  std::vector<TensorId> inputs = {x};
  TensorId scale = take_affine(matcher, Op::Mul, deviation->axis);
  if (!scale.valid()) {
    // A norm without scale is one with a scale of 1.
    const Tensor source = matcher.graph()[x];
    Constant one = Constant::reals(source.type.format.element,
                                   Shape(source.type.shape.begin() + deviation->axis, source.type.shape.end()), {1.0});
    one.pattern = Constant::Pattern::uniform;
    scale = matcher.graph().add_tensor({.name = matcher.unused_name(node.name + "/scale"),
                                        .type = {one.shape, source.type.format},
                                        .role = Role::constant,
                                        .producer = {},
                                        .parameter = false,
                                        .updates = {}});
    matcher.graph().constants.emplace(scale, std::move(one));
  }
  inputs.push_back(scale);
  if (centred) {
    if (const TensorId bias = take_affine(matcher, Op::Add, deviation->axis); bias.valid()) inputs.push_back(bias);
  }
  return matcher.finish(centred ? Op::LayerNormalization : Op::RMSNormalization, std::move(inputs),
                        std::move(attributes));
}

}  // namespace monet::onnx
