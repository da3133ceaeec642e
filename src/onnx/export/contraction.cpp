#include "onnx/node_export.h"

namespace monet::onnx {

namespace {

void matmul(NodeExport& node) { node.emit("MatMul", node.inputs()); }

void gemm(NodeExport& node) {
  const Attributes& attributes = node.attributes();
  node.emit("Gemm", node.inputs(),
            {{"alpha", attributes.real(Attr::alpha)},
             {"beta", attributes.real(Attr::beta)},
             {"transA", attributes.integer(Attr::trans_a)},
             {"transB", attributes.integer(Attr::trans_b)}});
}

bool is_plain_product(const Attributes& attributes) {
  return attributes.integer_or(Attr::trans_a, 0) == 0 && attributes.integer_or(Attr::trans_b, 0) == 0 &&
         attributes.real_or(Attr::alpha, 1) == 1;
}

}  // namespace

ExportRule contraction_export(const Graph&, const Node& node) {
  switch (node.op) {
    case Op::MatMul: return is_plain_product(node.attributes) ? matmul : nullptr;
    case Op::Gemm: return gemm;
    case Op::Einsum: return export_as_is;
    default: return nullptr;
  }
}

}  // namespace monet::onnx
