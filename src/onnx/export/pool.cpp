#include "base/checked.h"
#include "onnx/node_export.h"

namespace monet::onnx {

namespace {

// The sizes that ONNX gives a pool's output, rounded up or down.
Shape pooled_shape(const Shape& input, const Attributes& attributes, bool round_up) {
  Shape shape = input;
  const auto& pads = attributes.integers(Attr::pads);
  const std::size_t spatial = input.size() - 2;
  for (std::size_t i = 0; i < spatial; ++i) {
    const std::int64_t window =
        (attributes.integers(Attr::kernel_shape)[i] - 1) * attributes.integers(Attr::dilations)[i] + 1;
    const std::int64_t stride = attributes.integers(Attr::strides)[i];
    const std::int64_t slack = input[i + 2] + pads[i] + pads[spatial + i] - window;
    std::int64_t places = (round_up ? ceil_divide(slack, stride) : floor_divide(slack, stride)) + 1;
    // The last window starts inside the input or the padding before it.
    if (round_up && (places - 1) * stride >= input[i + 2] + pads[i]) --places;
    shape[i + 2] = places;
  }
  return shape;
}

bool gives_shape(const Shape& input, const Attributes& attributes, bool round_up) {
  return pooled_shape(input, attributes, round_up) == attributes.integers(Attr::shape);
}

void pool(NodeExport& node) {
  OnnxAttributes attributes = same_attributes(node.attributes(), {Attr::shape});
  const bool round_up = !gives_shape(node.shape(0), node.attributes(), false);
  attributes.push_back({"ceil_mode", std::int64_t{round_up}});
  node.emit(name_of(node.op()), node.inputs(), std::move(attributes));
}

}  // namespace

ExportRule pool_export(const Graph& graph, const Node& node) {
  if (node.op == Op::AveragePoolGrad) return nullptr;
  const Shape& input = graph[node.inputs[0]].type.shape;
  const bool possible = gives_shape(input, node.attributes, false) || gives_shape(input, node.attributes, true);
  return possible ? pool : nullptr;
}

}  // namespace monet::onnx
