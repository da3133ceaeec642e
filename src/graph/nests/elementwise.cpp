#include "graph/nests.h"

namespace monet {

namespace {

int bounds(const OperatorSite& site) {
  return (site.attributes.has(Attr::min) ? 1 : 0) + (site.attributes.has(Attr::max) ? 1 : 0);
}

// Operations per element of the operators in graph/expand/elementwise.cpp. Choosing by a comparison costs nothing more.
Counts gradient_per_element(const OperatorSite& site) {
  using enum Count;
  switch (site.op) {
    case Op::CeluGrad: return counts_of({{compare, 1}, {divide, 1}, {exp, 1}, {multiply, 1}});
    case Op::ClipGrad: return counts_of({{compare, bounds(site)}});
    case Op::EluGrad:
    case Op::SeluGrad: return counts_of({{compare, 1}, {exp, 1}, {multiply, 2}});
    case Op::GeluGrad:
      return site.attributes.text(Attr::approximate) == "tanh"
                 ? counts_of({{multiply, 12}, {add, 5}, {tanh, 1}})
                 : counts_of({{multiply, 7}, {add, 2}, {erf, 1}, {exp, 1}});
    case Op::HardSigmoidGrad:
    case Op::HardSwishGrad: return counts_of({{multiply, 2}, {add, 1}, {compare, 2}});
    case Op::LeakyReluGrad: return counts_of({{compare, 1}, {multiply, 1}});
    case Op::MishGrad: return counts_of({{exp, 2}, {log, 1}, {tanh, 1}, {add, 4}, {multiply, 4}, {divide, 1}});
    case Op::ReluGrad: return counts_of({{compare, 1}});
    case Op::SigmoidGrad:
    case Op::TanhGrad: return counts_of({{multiply, 2}, {add, 1}});
    case Op::SiluGrad: return counts_of({{exp, 1}, {add, 3}, {divide, 1}, {multiply, 3}});
    case Op::SoftplusGrad: return counts_of({{exp, 1}, {add, 1}, {divide, 1}, {multiply, 1}});
    default: return {};
  }
}

// Operations per element, from each function's definition in the ONNX operator specification. Constant factors that
// can be folded beforehand (1/sqrt 2 in GELU) count as one multiplication.
Counts per_element(const OperatorSite& site) {
  using enum Count;
  const auto inputs = static_cast<std::int64_t>(site.inputs.size());
  const std::int64_t zero_point = site.has_input(2) ? 1 : 0;  // of quantization
  switch (site.op) {
    case Op::Abs:
    case Op::Relu:
    case Op::Sign:
    case Op::IsInf:
    case Op::IsNaN: return counts_of({{compare, 1}});
    case Op::Acos:
    case Op::Asin:
    case Op::Atan:
    case Op::Cos:
    case Op::Sin:
    case Op::Tan: return counts_of({{trigonometric, 1}});
    case Op::Acosh:
    case Op::Asinh: return counts_of({{multiply, 1}, {add, 2}, {sqrt, 1}, {log, 1}});
    case Op::Atanh: return counts_of({{add, 2}, {divide, 1}, {log, 1}, {multiply, 1}});
    case Op::Cosh:
    case Op::Sinh: return counts_of({{exp, 2}, {add, 1}, {multiply, 1}});
    case Op::And:
    case Op::Or:
    case Op::Xor:
    case Op::Not:
    case Op::BitShift:
    case Op::BitwiseAnd:
    case Op::BitwiseOr:
    case Op::BitwiseXor:
    case Op::BitwiseNot:
    case Op::Where: return counts_of({{logic, 1}});
    case Op::Cast:
    case Op::Ceil:
    case Op::Floor:
    case Op::Round: return counts_of({{round, 1}});
    case Op::Celu: return counts_of({{compare, 2}, {divide, 1}, {exp, 1}, {add, 2}, {multiply, 1}});
    case Op::Elu:
    case Op::Selu: return counts_of({{compare, 1}, {exp, 1}, {add, 1}, {multiply, site.op == Op::Selu ? 2 : 1}});
    case Op::Clip: return counts_of({{compare, bounds(site)}});
    case Op::Erf: return counts_of({{erf, 1}});
    case Op::Exp: return counts_of({{exp, 1}});
    case Op::Gelu:
      return site.attributes.text(Attr::approximate) == "tanh" ? counts_of({{multiply, 5}, {add, 2}, {tanh, 1}})
                                                               : counts_of({{multiply, 3}, {add, 1}, {erf, 1}});
    case Op::HardSigmoid: return counts_of({{multiply, 1}, {add, 1}, {compare, 2}});
    case Op::HardSwish: return counts_of({{multiply, 2}, {add, 1}, {compare, 2}});
    case Op::LeakyRelu:
    case Op::PRelu: return counts_of({{compare, 1}, {multiply, 1}});
    case Op::Log: return counts_of({{log, 1}});
    case Op::Mish: return counts_of({{exp, 1}, {add, 1}, {log, 1}, {tanh, 1}, {multiply, 1}});
    case Op::Neg: return counts_of({{add, 1}});
    case Op::Reciprocal: return counts_of({{divide, 1}});
    case Op::Shrink: return counts_of({{compare, 2}, {add, 1}});
    case Op::Sigmoid: return counts_of({{exp, 1}, {add, 1}, {divide, 1}});
    case Op::Silu: return counts_of({{exp, 1}, {add, 1}, {divide, 1}, {multiply, 1}});
    case Op::Softplus: return counts_of({{exp, 1}, {add, 1}, {log, 1}});
    case Op::Softsign: return counts_of({{compare, 1}, {add, 1}, {divide, 1}});
    case Op::Sqrt: return counts_of({{sqrt, 1}});
    case Op::Tanh: return counts_of({{tanh, 1}});
    case Op::ThresholdedRelu: return counts_of({{compare, 1}});
    case Op::Add:
    case Op::Sub: return counts_of({{add, 1}});
    case Op::Mul: return counts_of({{multiply, 1}});
    case Op::Div: return counts_of({{divide, 1}});
    case Op::Mod: return counts_of({{divide, 1}, {multiply, 1}, {add, 1}});
    case Op::Pow: return counts_of({{power, 1}});
    case Op::Equal:
    case Op::Greater:
    case Op::GreaterOrEqual:
    case Op::Less:
    case Op::LessOrEqual: return counts_of({{compare, 1}});
    case Op::Max:
    case Op::Min: return counts_of({{compare, inputs - 1}});
    case Op::Sum: return counts_of({{add, inputs - 1}});
    case Op::Mean: return counts_of({{add, inputs - 1}, {multiply, 1}});
    case Op::QuantizeLinear: return counts_of({{divide, 1}, {round, 1}, {add, zero_point}, {compare, 2}});
    case Op::Quantize: return counts_of({{multiply, 1}, {round, 1}});  // and the largest: quantize_nests
    case Op::DequantizeLinear: return counts_of({{add, zero_point}, {multiply, 1}});
    default: return gradient_per_element(site);
  }
}

// The largest magnitude of each group, then every element by its scale. A block is small enough to be kept between
// the two; for a channel or a tensor the elements are read again.
OperatorNests quantize_nests(const OperatorSite& site, Nest scaling) {
  const Format& format = site.outputs[0]->format;
  if (format.is_scaled()) scaling.per_point[Count::compare] += 1;
  if (!format.is_scaled() || format.grouping == Grouping::block) return {.nests = {std::move(scaling)}, .scratch = {}};
  scaling.per_point[Count::compare] -= 1;
  const Shape& full = site.out(0);
  std::vector<std::int64_t> axes;
  const auto kept =
      format.grouping == Grouping::channel ? normalized_axis(format.group_axis, full.size()) : std::nullopt;
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(full.size()); ++i) {
    if (i != kept) axes.push_back(i);
  }
  const std::vector<AxisIndex> group = reduced_axes(full.size(), axes);
  Shape groups = full;
  for (const std::int64_t axis : axes)
    groups[static_cast<std::size_t>(axis)] = std::min<std::int64_t>(1, full[static_cast<std::size_t>(axis)]);
  Nest largest{.loops = scaling.loops,
               .reads = scaling.reads,
               .writes = {write_scratch(0, group, true)},
               .per_point = counts_of({{Count::compare, 1}})};
  scaling.reads.push_back(read_scratch(0, group));
  return {.nests = {std::move(largest), std::move(scaling)}, .scratch = {{groups, {.element = ElementType::float32}}}};
}

}  // namespace

OperatorNests elementwise_nests(const OperatorSite& site) {
  const Shape& full = site.out(0);
  Nest nest{.loops = loops_over(full), .reads = {}, .writes = {}, .per_point = per_element(site)};
  for (std::size_t i = 0; i < site.inputs.size(); ++i) {
    if (site.has_input(i)) nest.reads.push_back(read_input(i, broadcast_axes(site.in(i), full)));
  }
  nest.writes.push_back(write_output(0, identity_axes(full.size())));
  // Of a Quantize, or of an operator that leaves new weights: a random number is added before the rest is cut off.
  if (site.attributes.has(Attr::mode) && site.attributes.text(Attr::mode) == "stochastic") {
    nest.per_point[Count::random] += 1;
    nest.per_point[Count::add] += 1;
  }
  if (site.op == Op::Quantize) return quantize_nests(site, std::move(nest));
  return {.nests = {std::move(nest)}, .scratch = {}};
}

}  // namespace monet
