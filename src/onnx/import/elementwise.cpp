#include "onnx/node_import.h"

#include <array>
#include <limits>

namespace monet::onnx {

namespace {

// No attributes, inputs as they are.
template <Op op>
void plain(NodeImport& node) {
  node.emit(op, node.inputs());
}

// Before opset 7 a binary operator broadcast only when told to, along `axis`; those files are older than we read, but
// some exporters still write the attributes.
template <Op op>
void binary(NodeImport& node) {
  node.ignore({"broadcast", "axis"});
  node.emit(op, node.inputs());
}

// One real attribute `alpha` with the given default in thousandths.
template <Op op, int thousandths>
void with_alpha(NodeImport& node) {
  node.emit(op, node.inputs(), {{Attr::alpha, node.real("alpha", thousandths / 1000.0)}});
}

std::optional<ElementType> target_type(NodeImport& node, std::int64_t number) {
  const auto type = element_type_of(number);
  if (!type) node.fail("converts to the ONNX element type " + std::to_string(number) + ", which is not read");
  return type;
}

void cast_to(NodeImport& node, ElementType type) {
  if (node.type(0) == type) {
    node.emit(Op::Identity, {node.input(0)});
  } else {
    node.emit(Op::Cast, {node.input(0)}, {{Attr::to, static_cast<std::int64_t>(type)}});
  }
}

void cast(NodeImport& node) {
  node.ignore({"saturate", "round_mode"});
  if (const auto type = target_type(node, node.integer("to", 0))) cast_to(node, *type);
}

void cast_like(NodeImport& node) {
  node.ignore({"saturate", "round_mode"});
  cast_to(node, node.type(1));
}

// Bounds are attributes up to opset 10 and inputs after it. Bounds that are data become a maximum and a minimum.
void clip(NodeImport& node) {
  Attributes attributes;
  if (node.version() < 11) {
    if (node.has_attribute("min")) attributes.set(Attr::min, node.real("min", 0));
    if (node.has_attribute("max")) attributes.set(Attr::max, node.real("max", 0));
    node.emit(Op::Clip, {node.input(0)}, attributes);
    return;
  }
  const bool low_is_data = node.has_input(1) && node.value(1) == nullptr;
  const bool high_is_data = node.has_input(2) && node.value(2) == nullptr;
  if (low_is_data || high_is_data) {
    TensorId x = node.input(0);
    if (node.has_input(1) && node.has_input(2)) {
      x = node.make(Op::Max, {x, node.input(1)});
      node.emit(Op::Min, {x, node.input(2)});
    } else {
      node.emit(node.has_input(1) ? Op::Max : Op::Min, {x, node.input(node.has_input(1) ? 1 : 2)});
    }
    return;
  }
  if (node.has_input(1)) attributes.set(Attr::min, node.required_real(1));
  if (node.has_input(2)) attributes.set(Attr::max, node.required_real(2));
  node.emit(Op::Clip, {node.input(0)}, attributes);
}

void gelu(NodeImport& node) {
  const std::string approximate = node.text("approximate", "none");
  if (approximate != "none" && approximate != "tanh") {
    node.fail("Gelu has no approximation '" + approximate + "'", "use none or tanh");
  }
  node.emit(Op::Gelu, {node.input(0)}, {{Attr::approximate, approximate}});
}

void gelu_tanh(NodeImport& node) { node.emit(Op::Gelu, {node.input(0)}, {{Attr::approximate, std::string("tanh")}}); }
void gelu_erf(NodeImport& node) { node.emit(Op::Gelu, {node.input(0)}, {{Attr::approximate, std::string("none")}}); }

void hard_sigmoid(NodeImport& node) {
  node.emit(Op::HardSigmoid, node.inputs(),
            {{Attr::alpha, node.real("alpha", 0.2)}, {Attr::beta, node.real("beta", 0.5)}});
}

void is_inf(NodeImport& node) {
  node.emit(Op::IsInf, node.inputs(),
            {{Attr::detect_negative, node.integer("detect_negative", 1)},
             {Attr::detect_positive, node.integer("detect_positive", 1)}});
}

void selu(NodeImport& node) {
  node.emit(Op::Selu, node.inputs(),
            {{Attr::alpha, node.real("alpha", 1.67326319217681884765625)},
             {Attr::gamma, node.real("gamma", 1.05070102214813232421875)}});
}

void shrink(NodeImport& node) {
  node.emit(Op::Shrink, node.inputs(), {{Attr::bias, node.real("bias", 0)}, {Attr::lambd, node.real("lambd", 0.5)}});
}

void bit_shift(NodeImport& node) {
  const std::string direction = node.text("direction", "");
  if (direction != "LEFT" && direction != "RIGHT")
    node.fail("BitShift has no direction '" + direction + "'", "use LEFT or RIGHT");
  node.emit(Op::BitShift, node.inputs(), {{Attr::direction, direction}});
}

void mod(NodeImport& node) { node.emit(Op::Mod, node.inputs(), {{Attr::fmod, node.integer("fmod", 0)}}); }

// Swish with alpha 1 is SiLU; the general one is x * sigmoid(alpha x).
void swish(NodeImport& node) {
  const double alpha = node.real("alpha", 1.0);
  if (alpha == 1.0) {
    node.emit(Op::Silu, {node.input(0)});
    return;
  }
  const TensorId factor = node.make_constant(Constant::reals(node.type(0), {}, {alpha}));
  const TensorId gate = node.make(Op::Sigmoid, {node.make(Op::Mul, {node.input(0), factor})});
  node.emit(Op::Mul, {node.input(0), gate});
}

// A scale per axis is a vector there and broadcasts here: its axis gets its place among axes of size 1.
TensorId along_axis(NodeImport& node, std::size_t input, std::int64_t axis) {
  if (!node.has_input(input)) return {};
  const Shape& shape = node.shape(input);
  if (shape.size() != 1 || node.rank(0) == 0 || shape[0] == 1) return node.input(input);
  Shape placed(node.rank(0), 1);
  placed[static_cast<std::size_t>(node.axis(axis, node.rank(0)))] = shape[0];
  return node.make(Op::Reshape, {node.input(input)}, {{Attr::shape, placed}});
}

void quantize(NodeImport& node, Op op, ElementType to) {
  node.ignore({"saturate", "precision"});
  const std::int64_t axis = node.integer("axis", 1);
  if (node.integer("block_size", 0) != 0) node.fail("has scales by block, which are not read");
  std::vector<TensorId> inputs = {node.input(0), along_axis(node, 1, axis), along_axis(node, 2, axis)};
  node.emit(op, inputs, {{Attr::to, static_cast<std::int64_t>(to)}});
}

void quantize_linear(NodeImport& node) {
  ElementType to = node.has_input(2) ? node.type(2) : ElementType::uint8;
  if (const std::int64_t wanted = node.integer("output_dtype", 0); wanted != 0) {
    if (const auto type = target_type(node, wanted)) to = *type;
  }
  quantize(node, Op::QuantizeLinear, to);
}

void dequantize_linear(NodeImport& node) {
  node.ignore({"output_dtype"});
  quantize(node, Op::DequantizeLinear, node.type(1));
}

constexpr std::array elementwise_entries = {
    ImportEntry{"", "Abs", plain<Op::Abs>},
    ImportEntry{"", "Acos", plain<Op::Acos>},
    ImportEntry{"", "Acosh", plain<Op::Acosh>},
    ImportEntry{"", "Add", binary<Op::Add>},
    ImportEntry{"", "And", binary<Op::And>},
    ImportEntry{"", "Asin", plain<Op::Asin>},
    ImportEntry{"", "Asinh", plain<Op::Asinh>},
    ImportEntry{"", "Atan", plain<Op::Atan>},
    ImportEntry{"", "Atanh", plain<Op::Atanh>},
    ImportEntry{"", "BitShift", bit_shift},
    ImportEntry{"", "BitwiseAnd", plain<Op::BitwiseAnd>},
    ImportEntry{"", "BitwiseNot", plain<Op::BitwiseNot>},
    ImportEntry{"", "BitwiseOr", plain<Op::BitwiseOr>},
    ImportEntry{"", "BitwiseXor", plain<Op::BitwiseXor>},
    ImportEntry{"", "Cast", cast},
    ImportEntry{"", "CastLike", cast_like},
    ImportEntry{"", "Ceil", plain<Op::Ceil>},
    ImportEntry{"", "Celu", with_alpha<Op::Celu, 1000>},
    ImportEntry{"", "Clip", clip},
    ImportEntry{"", "Cos", plain<Op::Cos>},
    ImportEntry{"", "Cosh", plain<Op::Cosh>},
    ImportEntry{"", "DequantizeLinear", dequantize_linear},
    ImportEntry{"", "Div", binary<Op::Div>},
    ImportEntry{"", "Elu", with_alpha<Op::Elu, 1000>},
    ImportEntry{"", "Equal", binary<Op::Equal>},
    ImportEntry{"", "Erf", plain<Op::Erf>},
    ImportEntry{"", "Exp", plain<Op::Exp>},
    ImportEntry{"", "Floor", plain<Op::Floor>},
    ImportEntry{"", "Gelu", gelu},
    ImportEntry{"", "Greater", binary<Op::Greater>},
    ImportEntry{"", "GreaterOrEqual", plain<Op::GreaterOrEqual>},
    ImportEntry{"", "HardSigmoid", hard_sigmoid},
    ImportEntry{"", "HardSwish", plain<Op::HardSwish>},
    ImportEntry{"", "IsInf", is_inf},
    ImportEntry{"", "IsNaN", plain<Op::IsNaN>},
    ImportEntry{"", "LeakyRelu", with_alpha<Op::LeakyRelu, 10>},
    ImportEntry{"", "Less", binary<Op::Less>},
    ImportEntry{"", "LessOrEqual", plain<Op::LessOrEqual>},
    ImportEntry{"", "Log", plain<Op::Log>},
    ImportEntry{"", "Max", plain<Op::Max>},
    ImportEntry{"", "Mean", plain<Op::Mean>},
    ImportEntry{"", "Min", plain<Op::Min>},
    ImportEntry{"", "Mish", plain<Op::Mish>},
    ImportEntry{"", "Mod", mod},
    ImportEntry{"", "Mul", binary<Op::Mul>},
    ImportEntry{"", "Neg", plain<Op::Neg>},
    ImportEntry{"", "Not", plain<Op::Not>},
    ImportEntry{"", "Or", binary<Op::Or>},
    ImportEntry{"", "PRelu", plain<Op::PRelu>},
    ImportEntry{"", "Pow", binary<Op::Pow>},
    ImportEntry{"", "QuantizeLinear", quantize_linear},
    ImportEntry{"", "Reciprocal", plain<Op::Reciprocal>},
    ImportEntry{"", "Relu", plain<Op::Relu>},
    ImportEntry{"", "Round", plain<Op::Round>},
    ImportEntry{"", "Selu", selu},
    ImportEntry{"", "Shrink", shrink},
    ImportEntry{"", "Sigmoid", plain<Op::Sigmoid>},
    ImportEntry{"", "Sign", plain<Op::Sign>},
    ImportEntry{"", "Sin", plain<Op::Sin>},
    ImportEntry{"", "Sinh", plain<Op::Sinh>},
    ImportEntry{"", "Softplus", plain<Op::Softplus>},
    ImportEntry{"", "Softsign", plain<Op::Softsign>},
    ImportEntry{"", "Sqrt", plain<Op::Sqrt>},
    ImportEntry{"", "Sub", binary<Op::Sub>},
    ImportEntry{"", "Sum", plain<Op::Sum>},
    ImportEntry{"", "Swish", swish},
    ImportEntry{"", "Tan", plain<Op::Tan>},
    ImportEntry{"", "Tanh", plain<Op::Tanh>},
    ImportEntry{"", "ThresholdedRelu", with_alpha<Op::ThresholdedRelu, 1000>},
    ImportEntry{"", "Where", plain<Op::Where>},
    ImportEntry{"", "Xor", binary<Op::Xor>},
    ImportEntry{"com.microsoft", "FastGelu", gelu_tanh},
    ImportEntry{"com.microsoft", "Gelu", gelu_erf},
    ImportEntry{"com.microsoft", "QuickGelu", swish},
    ImportEntry{"com.microsoft", "ReluGrad", plain<Op::ReluGrad>},
};

}  // namespace

std::span<const ImportEntry> elementwise_rules() { return elementwise_entries; }

}  // namespace monet::onnx
