#include "onnx/node_import.h"

#include <array>
#include <numeric>

namespace monet::onnx {

namespace {

using Integers = std::vector<std::int64_t>;

// Before opset 13 the input was taken as a matrix: the axes from `axis` on are its row.
template <Op op>
void softmax(NodeImport& node) {
  const bool as_matrix = node.version() < 13;
  const std::int64_t axis = node.axis(node.integer("axis", as_matrix ? 1 : -1), node.rank(0));
  if (node.failed()) return;
  Integers axes(as_matrix ? node.rank(0) - static_cast<std::size_t>(axis) : 1);
  std::iota(axes.begin(), axes.end(), axis);
  node.emit(op, {node.input(0)}, {{Attr::axes, std::move(axes)}});
}

// Classes are axis 1. Training exporters also write them last: then, and only then, do the labels fit like that.
std::int64_t class_axis(NodeImport& node, std::size_t scores_at) {
  const Shape& scores = node.shape(scores_at);
  const Shape& labels = node.shape(scores_at + 1);
  if (scores.size() < 2) {
    node.fail("has scores of " + to_string(scores), "scores have a batch axis and a class axis");
    return 0;
  }
  Shape positions = scores;
  positions.erase(positions.begin() + 1);
  if (labels == positions) return 1;
  positions = scores;
  positions.pop_back();
  return labels == positions ? static_cast<std::int64_t>(scores.size()) - 1 : 1;
}

Attributes loss_attributes(NodeImport& node, std::size_t scores_at) {
  Attributes attributes = {{Attr::reduction, node.text("reduction", "mean")},
                           {Attr::axis, class_axis(node, scores_at)}};
  if (node.has_attribute("ignore_index")) attributes.set(Attr::ignore_index, node.integer("ignore_index", 0));
  return attributes;
}

template <Op op>
void loss(NodeImport& node) {
  node.emit(op, {node.input(0), node.input(1), node.input(2)}, loss_attributes(node, 0));
}

// The same loss with the index to ignore as an input.
void loss_internal(NodeImport& node) {
  node.ignore({"output_type"});
  Attributes attributes = loss_attributes(node, 0);
  if (node.has_input(3)) attributes.set(Attr::ignore_index, node.required_integer(3));
  node.emit(Op::SoftmaxCrossEntropyLoss, {node.input(0), node.input(1), node.input(2)}, std::move(attributes));
}

void emit_loss_gradient(NodeImport& node, Attributes attributes, std::size_t bias_at) {
  std::vector<TensorId> inputs = {node.input(0), node.input(1), node.input(2), node.input(3)};
  if (!node.has_input(bias_at)) {
    node.emit(Op::SoftmaxCrossEntropyLossGrad, std::move(inputs), std::move(attributes));
    return;
  }
  const TensorId gradient = node.make(Op::SoftmaxCrossEntropyLossGrad, std::move(inputs), std::move(attributes));
  node.emit(Op::Add, {gradient, node.input(bias_at)});
}

void loss_gradient(NodeImport& node) { emit_loss_gradient(node, loss_attributes(node, 1), 4); }

void loss_internal_gradient(NodeImport& node) {
  node.ignore({"output_type"});
  Attributes attributes = loss_attributes(node, 1);
  if (node.has_input(4)) attributes.set(Attr::ignore_index, node.required_integer(4));
  emit_loss_gradient(node, std::move(attributes), 5);
}

constexpr std::array softmax_entries = {
    ImportEntry{"", "LogSoftmax", softmax<Op::LogSoftmax>},
    ImportEntry{"", "NegativeLogLikelihoodLoss", loss<Op::NegativeLogLikelihoodLoss>},
    ImportEntry{"", "Softmax", softmax<Op::Softmax>},
    ImportEntry{"", "SoftmaxCrossEntropyLoss", loss<Op::SoftmaxCrossEntropyLoss>},
    ImportEntry{"com.microsoft", "SoftmaxCrossEntropyLossGrad", loss_gradient},
    ImportEntry{"com.microsoft", "SoftmaxCrossEntropyLossInternal", loss_internal},
    ImportEntry{"com.microsoft", "SoftmaxCrossEntropyLossInternalGrad", loss_internal_gradient},
};

}  // namespace

std::span<const ImportEntry> softmax_rules() { return softmax_entries; }

}  // namespace monet::onnx
