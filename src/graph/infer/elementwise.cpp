#include "graph/infer.h"

#include "base/try.h"

#include <fmt/format.h>

#include <algorithm>

namespace monet {

namespace {

bool gives_boolean(Op op) {
  switch (op) {
    case Op::And:
    case Op::Or:
    case Op::Xor:
    case Op::Not:
    case Op::Equal:
    case Op::Greater:
    case Op::GreaterOrEqual:
    case Op::Less:
    case Op::LessOrEqual:
    case Op::IsInf:
    case Op::IsNaN: return true;
    default: return false;
  }
}

Expected<Format> quantized_format(const OperatorTypes& operation) {
  const Shape& shape = operation.shape(0);
  const std::string& text = operation.attributes.text(Attr::format);
  const auto format = parse_format(text);
  if (!format) return shape_error(fmt::format("Quantize has the unknown format '{}'", text));
  if (-format->group_axis > static_cast<std::int64_t>(std::max<std::size_t>(1, shape.size())))
    return shape_error(fmt::format("Quantize groups axis {} of {}", format->group_axis, to_string(shape)));
  if (const std::string reason = impossible_shape(padded_shape(shape, *format)); !reason.empty())
    return shape_error(fmt::format("Quantize of {} to {} gives whole groups with {}", to_string(shape), text, reason));
  if (operation.attributes.has(Attr::mode) && operation.attributes.text(Attr::mode) != "stochastic")
    return shape_error(fmt::format("Quantize has the unknown mode '{}'", operation.attributes.text(Attr::mode)));
  return *format;
}

Expected<Format> output_format(const OperatorTypes& operation) {
  if (gives_boolean(operation.op)) return Format{.element = ElementType::boolean};
  switch (operation.op) {
    case Op::Cast:
    case Op::QuantizeLinear: return target_format(operation);
    case Op::Quantize: return quantized_format(operation);
    case Op::DequantizeLinear: return operation.format(1);
    case Op::Where: return operation.format(1);
    default: return operation.format(0);
  }
}

// dY, and the value of the forward part that it belongs to.
bool is_gradient(Op op) { return op == Op::ReluGrad || is_composite(op); }

}  // namespace

Expected<Types> infer_elementwise(const OperatorTypes& operation) {
  Shape shape = operation.shape(0);
  for (std::size_t i = 1; i < operation.inputs.size(); ++i) {
    if (!operation.has(i)) continue;
    auto joined = broadcast(shape, operation.shape(i));
    if (!joined) {
      return shape_error(fmt::format("{} cannot broadcast {} with {}", name_of(operation.op), to_string(shape),
                                     to_string(operation.shape(i))));
    }
    shape = std::move(*joined);
  }
  if (operation.op == Op::PRelu && shape != operation.shape(0)) {
    return shape_error(fmt::format("the slope {} of PRelu is larger than its input {}", to_string(operation.shape(1)),
                                   to_string(operation.shape(0))));
  }
  if (is_gradient(operation.op) && operation.shape(0) != operation.shape(1)) {
    return shape_error(fmt::format("{} has a gradient of {} for a value of {}", name_of(operation.op),
                                   to_string(operation.shape(0)), to_string(operation.shape(1))),
                       "give both the shape of the value");
  }
  MONET_TRY(const Format format, output_format(operation));
  return Types{{std::move(shape), format}};
}

}  // namespace monet
