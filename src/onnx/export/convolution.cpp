#include "onnx/node_export.h"

namespace monet::onnx {

namespace {

void convolve(NodeExport& node) {
  OnnxAttributes attributes = same_attributes(node.attributes());
  attributes.push_back({"kernel_shape", Shape(node.shape(1).begin() + 2, node.shape(1).end())});
  node.emit(name_of(node.op()), node.inputs(), std::move(attributes));
}

// ONNX convolves real numbers only. Sums of products of quantized numbers are exact in double precision.
void convolve_integers(NodeExport& node) {
  std::vector<Text> operands;
  for (std::size_t i = 0; i < node.input_count(); ++i)
    operands.push_back(node.cast(node.input(i), node.shape(i), node.type(i), ElementType::float64));
  OnnxAttributes attributes = same_attributes(node.attributes());
  attributes.push_back({"kernel_shape", Shape(node.shape(1).begin() + 2, node.shape(1).end())});
  node.emit_cast(node.make(name_of(node.op()), std::move(operands), std::move(attributes), node.output_shape(),
                           ElementType::float64));
}

}  // namespace

ExportRule convolution_export(const Graph& graph, const Node& node) {
  return is_floating(graph[node.inputs[0]].type.format.element) ? convolve : convolve_integers;
}

}  // namespace monet::onnx
