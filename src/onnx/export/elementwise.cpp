#include "onnx/node_export.h"

#include <algorithm>

namespace monet::onnx {

namespace {

void cast(NodeExport& node) { node.emit_cast(node.input(0)); }

void clip(NodeExport& node) {
  const auto bound = [&](Attr key) {
    return node.attributes().has(key) ? node.scalar(node.type(0), node.attributes().real(key)) : Text();
  };
  node.emit("Clip", {node.input(0), bound(Attr::min), bound(Attr::max)});
}

// The axis of x along which `scale` varies; nothing for a single number. Two or more are blocks, which ONNX's form for
// these shapes does not have.
std::vector<std::size_t> varying_axes(const Shape& x, const Shape& scale) {
  std::vector<std::size_t> axes;
  for (std::size_t i = 0; i < scale.size(); ++i) {
    if (scale[i] != 1) axes.push_back(x.size() - scale.size() + i);
  }
  return axes;
}

// ONNX wants one number, or a vector and the axis that it belongs to.
void quantize(NodeExport& node) {
  const auto axes = varying_axes(node.shape(0), node.shape(1));
  const Shape shape = axes.empty() ? Shape{} : Shape{element_count(node.shape(1))};
  const auto placed = [&](std::size_t i) { return node.reshaped(node.input(i), node.shape(i), shape, node.type(i)); };
  const Text scale = placed(1);
  Text zero_point;
  const bool quantizes = node.op() == Op::QuantizeLinear;
  const ElementType quantized = quantizes ? node.output_type() : node.type(0);
  if (node.has(2)) {
    zero_point = placed(2);
  } else if (quantizes && quantized != ElementType::uint8) {
    zero_point = node.constant({.type = quantized,
                                .shape = shape,
                                .pattern = Constant::Pattern::uniform,
                                .diagonal = 0,
                                .values = std::vector<std::int64_t>{0}});
  }
  if (is_integer(quantized) && bits_of(quantized) != 8 && bits_of(quantized) != 32) node.need_opset(21);
  OnnxAttributes attributes;
  if (!axes.empty()) attributes.push_back({"axis", static_cast<std::int64_t>(axes.front())});
  node.emit(name_of(node.op()), {node.input(0), scale, zero_point}, std::move(attributes));
}

// Zero points may be placed like the scales only.
bool fits_quantization(const Graph& graph, const Node& node) {
  const Shape& scale = graph[node.inputs[1]].type.shape;
  if (varying_axes(graph[node.inputs[0]].type.shape, scale).size() > 1) return false;
  const bool has_zero_point = node.inputs.size() > 2 && node.inputs[2].valid();
  return !has_zero_point || element_count(graph[node.inputs[2]].type.shape) == element_count(scale);
}

// To the nearest number of a plain floating-point type: a Cast. Scales and chance have no form in ONNX.
bool is_cast(const Graph& graph, const Node& node) {
  const Format& from = graph[node.inputs[0]].type.format;
  const Format& to = graph[node.outputs[0]].type.format;
  return from.is_real() && !to.is_scaled() && is_floating(to.element) && !node.attributes.has(Attr::mode);
}

}  // namespace

ExportRule elementwise_export(const Graph& graph, const Node& node) {
  switch (node.op) {
    case Op::Silu:
    case Op::ReluGrad: return nullptr;
    case Op::Cast: return cast;
    case Op::Clip: return clip;
    case Op::Quantize: return is_cast(graph, node) ? cast : nullptr;
    case Op::QuantizeLinear:
    case Op::DequantizeLinear: return fits_quantization(graph, node) ? quantize : nullptr;
    default: return export_as_is;
  }
}

}  // namespace monet::onnx
