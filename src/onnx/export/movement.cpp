#include "onnx/node_export.h"

namespace monet::onnx {

namespace {

using Integers = std::vector<std::int64_t>;

void pad(NodeExport& node) {
  node.emit("Pad", {node.input(0), node.integers(node.attributes().integers(Attr::pads)), node.input(1)},
            same_attributes(node.attributes(), {Attr::pads}));
}

void tile(NodeExport& node) {
  node.emit("Tile", {node.input(0), node.integers(node.attributes().integers(Attr::repeats))});
}

void trilu(NodeExport& node) {
  node.emit("Trilu", {node.input(0), node.integer(node.attributes().integer(Attr::k))},
            same_attributes(node.attributes(), {Attr::k}));
}

// ONNX does not have bfloat16 here.
void one_hot(NodeExport& node) {
  const bool short_type = node.type(1) == ElementType::bfloat16;
  const ElementType type = short_type ? ElementType::float32 : node.type(1);
  const Text depth = node.integer(node.attributes().integer(Attr::depth));
  const Text values = node.cast(node.input(1), node.shape(1), node.type(1), type);
  const OnnxAttributes attributes = same_attributes(node.attributes(), {Attr::depth});
  if (!short_type) return node.emit("OneHot", {node.input(0), depth, values}, attributes);
  node.emit_cast(node.make("OneHot", {node.input(0), depth, values}, attributes, node.output_shape(), type));
}

// The indices say where each element goes, and the shape how much room there is: no window is left to describe.
void max_unpool(NodeExport& node) {
  const Integers ones(node.shape(0).size() - 2, 1);
  node.emit("MaxUnpool", {node.input(0), node.input(1), node.integers(node.output_shape())}, {{"kernel_shape", ones}});
}

}  // namespace

ExportRule movement_export(const Graph& graph, const Node& node) {
  switch (node.op) {
    case Op::Pad: return pad;
    case Op::Tile: return tile;
    case Op::Trilu: return trilu;
    case Op::OneHot: return one_hot;
    case Op::MaxUnpool: return max_unpool;
    case Op::Resize: return resize_export(graph, node);
    default: return export_as_is;
  }
}

}  // namespace monet::onnx
