#include "onnx/node_export.h"

namespace monet::onnx {

namespace {

// Over no axes: each element is reduced by itself.
void reduce_nothing(NodeExport& node) {
  switch (node.op()) {
    case Op::ReduceL1:
    case Op::ReduceL2: return node.emit("Abs", node.inputs());
    case Op::ReduceLogSum: return node.emit("Log", node.inputs());
    case Op::ReduceSumSquare: return node.emit("Mul", {node.input(0), node.input(0)});
    default: return node.emit("Identity", node.inputs());
  }
}

void reduce(NodeExport& node) {
  const auto& axes = node.attributes().integers(Attr::axes);
  if (axes.empty()) return reduce_nothing(node);
  node.emit(name_of(node.op()), {node.input(0), node.integers(axes)}, same_attributes(node.attributes(), {Attr::axes}));
}

void cumulative_sum(NodeExport& node) {
  node.emit("CumSum", {node.input(0), node.integer(node.attributes().integer(Attr::axis))},
            same_attributes(node.attributes(), {Attr::axis}));
}

void top_k(NodeExport& node) {
  node.emit("TopK", {node.input(0), node.integers({node.attributes().integer(Attr::k)})},
            same_attributes(node.attributes(), {Attr::k}), 2);
}

}  // namespace

ExportRule reduction_export(const Graph& graph, const Node& node) {
  switch (node.op) {
    case Op::ArgMax:
    case Op::ArgMin: return export_as_is;
    case Op::CumSum: return cumulative_sum;
    case Op::TopK: return top_k;
    case Op::Hardmax: return softmax_export(graph, node);
    default: return reduce;
  }
}

}  // namespace monet::onnx
