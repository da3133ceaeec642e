#include "onnx/node_export.h"

namespace monet::onnx {

namespace {

// ONNX has the new statistics in training, always both, and none otherwise.
void batch_normalization(NodeExport& node) {
  const bool training = node.attributes().integer(Attr::training_mode) != 0;
  node.emit("BatchNormalization", node.inputs(), same_attributes(node.attributes()), training ? 3 : 1);
}

bool wants_beyond(const Node& node, std::size_t outputs) {
  for (std::size_t i = outputs; i < node.outputs.size(); ++i) {
    if (node.outputs[i].valid()) return true;
  }
  return false;
}

}  // namespace

ExportRule norm_export(const Graph&, const Node& node) {
  switch (node.op) {
    case Op::BatchNormalization: return wants_beyond(node, 3) ? nullptr : batch_normalization;
    case Op::InstanceNormalization: return wants_beyond(node, 1) ? nullptr : export_as_is;
    case Op::LayerNormalization:
    case Op::LpNormalization:
    case Op::MeanVarianceNormalization:
    case Op::LRN: return export_as_is;
    default: return nullptr;
  }
}

}  // namespace monet::onnx
