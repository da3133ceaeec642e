#include "onnx/node_export.h"

namespace monet::onnx {

namespace {

// What a sequence or a diagonal is computed in: every runtime has these.
ElementType computed_in(ElementType type) {
  if (type == ElementType::float32 || type == ElementType::float64) return type;
  return is_floating(type) ? ElementType::float32 : ElementType::int64;
}

Constant single(ElementType type, double value) { return Constant::reals(type, {1}, {value}); }

void fill(NodeExport& node) {
  const Constant value = single(node.output_type(), node.attributes().real(Attr::value));
  node.emit("ConstantOfShape", {node.integers(node.output_shape())}, {{"value", value}});
}

// The limit is half a step behind the last element, so that no rounding adds or loses one.
void range(NodeExport& node) {
  const ElementType type = computed_in(node.output_type());
  const double start = node.attributes().real(Attr::start);
  const double delta = node.attributes().real(Attr::delta);
  const auto count = static_cast<double>(node.output_shape()[0]);
  const double limit = start + delta * (is_floating(type) ? count - 0.5 : count);
  const std::vector<Text> inputs = {node.scalar(type, start), node.scalar(type, limit), node.scalar(type, delta)};
  if (type == node.output_type()) return node.emit("Range", inputs);
  node.emit_cast(node.make("Range", inputs, {}, node.output_shape(), type));
}

void eye_like(NodeExport& node) {
  const ElementType type = computed_in(node.output_type());
  const Text frame = node.make("ConstantOfShape", {node.integers(node.output_shape())}, {{"value", single(type, 0)}},
                               node.output_shape(), type);
  const OnnxAttributes attributes = {{"k", node.attributes().integer(Attr::k)}};
  if (type == node.output_type()) return node.emit("EyeLike", {frame}, attributes);
  node.emit_cast(node.make("EyeLike", {frame}, attributes, node.output_shape(), type));
}

void dropout(NodeExport& node) {
  node.emit("Dropout", {node.input(0), node.scalar(ElementType::float32, node.attributes().real(Attr::ratio)),
                        node.scalar(ElementType::boolean, 1)});
}

// RandomNormal, RandomUniform and Bernoulli.
void random(NodeExport& node) {
  OnnxAttributes attributes = same_attributes(node.attributes(), {Attr::to});
  attributes.push_back({"dtype", std::int64_t{onnx_number(node.output_type())}});
  node.emit(name_of(node.op()), node.inputs(), std::move(attributes));
}

}  // namespace

ExportRule generate_export(const Graph&, const Node& node) {
  switch (node.op) {
    case Op::Fill: return fill;
    case Op::Range: return range;
    case Op::EyeLike: return eye_like;
    case Op::Dropout: return dropout;
    case Op::RandomNormal:
    case Op::RandomUniform:
    case Op::Bernoulli: return random;
    default: return nullptr;
  }
}

}  // namespace monet::onnx
