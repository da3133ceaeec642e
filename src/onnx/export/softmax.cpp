#include "onnx/node_export.h"

#include <algorithm>
#include <numeric>

namespace monet::onnx {

namespace {

using Integers = std::vector<std::int64_t>;

Shape permuted(const Shape& shape, const Integers& perm) {
  Shape result;
  for (std::int64_t axis : perm) result.push_back(shape[static_cast<std::size_t>(axis)]);
  return result;
}

Integers inverse(const Integers& perm) {
  Integers result(perm.size());
  for (std::size_t i = 0; i < perm.size(); ++i)
    result[static_cast<std::size_t>(perm[i])] = static_cast<std::int64_t>(i);
  return result;
}

// All axes, those of `axes` next to each other and in their order, where the first of them is.
Integers gathering(const Integers& axes, std::size_t rank) {
  Integers perm;
  for (std::size_t i = 0; i < rank; ++i) {
    const auto axis = static_cast<std::int64_t>(i);
    const bool listed = std::ranges::find(axes, axis) != axes.end();
    if (!listed) perm.push_back(axis);
    if (!axes.empty() && axis == axes.front()) perm.insert(perm.end(), axes.begin(), axes.end());
  }
  return perm;
}

// ONNX knows one axis: several are brought together and joined to one for the operator.
void along_axes(NodeExport& node) {
  const Integers& axes = node.attributes().integers(Attr::axes);
  const Text op = name_of(node.op());
  if (axes.size() == 1) return node.emit(op, node.inputs(), {{"axis", axes.front()}});
  const ElementType type = node.type(0);
  const Shape& shape = node.shape(0);
  const Integers perm = gathering(axes, shape.size());
  const bool moves = !std::ranges::is_sorted(perm);
  const Shape moved = permuted(shape, perm);
  const std::int64_t first = axes.empty() ? static_cast<std::int64_t>(shape.size()) : axes.front();
  Shape joined(moved.begin(), moved.begin() + first);
  joined.push_back(1);
  for (std::size_t i = 0; i < axes.size(); ++i) joined.back() *= moved[static_cast<std::size_t>(first) + i];
  joined.insert(joined.end(), moved.begin() + first + static_cast<std::ptrdiff_t>(axes.size()), moved.end());

  Text value = node.input(0);
  if (moves) value = node.make("Transpose", {value}, {{"perm", perm}}, moved, type);
  value = node.reshaped(value, moved, joined, type);
  value = node.make(op, {value}, {{"axis", first}}, joined, type);
  if (!moves) return node.emit_reshape(value);
  value = node.reshaped(value, joined, moved, type);
  node.emit("Transpose", {value}, {{"perm", inverse(perm)}});
}

void loss(NodeExport& node) {
  node.emit(name_of(node.op()), node.inputs(), same_attributes(node.attributes(), {Attr::axis, Attr::label_smoothing}));
}

}  // namespace

ExportRule softmax_export(const Graph&, const Node& node) {
  const Attributes& attributes = node.attributes;
  switch (node.op) {
    case Op::Softmax:
    case Op::LogSoftmax:
    case Op::Hardmax: return along_axes;
    case Op::SoftmaxCrossEntropyLoss:
    case Op::NegativeLogLikelihoodLoss:
      return attributes.integer_or(Attr::axis, 1) == 1 && attributes.real_or(Attr::label_smoothing, 0) == 0 ? loss
                                                                                                            : nullptr;
    default: return nullptr;
  }
}

}  // namespace monet::onnx
