#include "graph/infer.h"

#include "base/try.h"

#include <fmt/format.h>

#include <algorithm>

namespace monet {

namespace {

Status check_reduction(const OperatorTypes& operation) {
  const std::string& reduction = operation.attributes.text(Attr::reduction);
  if (reduction == "none" || reduction == "mean" || reduction == "sum") return Done{};
  return shape_error(fmt::format("{} has no reduction '{}'", name_of(operation.op), reduction),
                     "use none, mean or sum");
}

// Scores by class, one label for each other position, one weight for each class.
Status check_classes(const OperatorTypes& operation, std::size_t scores_at) {
  const Shape& scores = operation.shape(scores_at);
  const Shape& labels = operation.shape(scores_at + 1);
  const std::int64_t axis = operation.attributes.integer_or(Attr::axis, 1);
  if (axis < 0 || axis >= static_cast<std::int64_t>(scores.size())) {
    return shape_error(
        fmt::format("{} has no class axis {} in scores of {}", name_of(operation.op), axis, to_string(scores)));
  }
  Shape positions = scores;
  positions.erase(positions.begin() + axis);
  if (labels != positions) {
    return shape_error(fmt::format("{} has labels of {} for scores of {}", name_of(operation.op), to_string(labels),
                                   to_string(scores)),
                       fmt::format("the labels should be {}", to_string(positions)));
  }
  if (!is_integer(operation.format(scores_at + 1).element)) {
    return shape_error(fmt::format("{} has labels of type {}", name_of(operation.op),
                                   name_of(operation.format(scores_at + 1).element)),
                       "labels are the numbers of classes: integers");
  }
  const std::int64_t classes = scores[static_cast<std::size_t>(axis)];
  if (operation.has(scores_at + 2) && operation.shape(scores_at + 2) != Shape{classes}) {
    return shape_error(fmt::format("{} has weights of {} for {} classes", name_of(operation.op),
                                   to_string(operation.shape(scores_at + 2)), classes));
  }
  return check_reduction(operation);
}

Expected<Types> infer_loss(const OperatorTypes& operation) {
  MONET_CHECK(check_classes(operation, 0));
  const bool each = operation.attributes.text(Attr::reduction) == "none";
  const TensorType loss{each ? operation.shape(1) : Shape{}, operation.format(0)};
  if (operation.op == Op::NegativeLogLikelihoodLoss) return Types{loss};
  return Types{loss, {operation.shape(0), operation.format(0)}};
}

Expected<Types> infer_loss_gradient(const OperatorTypes& operation) {
  MONET_CHECK(check_classes(operation, 1));
  const bool each = operation.attributes.text(Attr::reduction) == "none";
  const Shape& gradient = operation.shape(0);
  const bool fits =
      each ? gradient == operation.shape(2) : std::ranges::all_of(gradient, [](auto n) { return n == 1; });
  if (!fits) {
    return shape_error(fmt::format("{} has a loss gradient of {} where {} is needed", name_of(operation.op),
                                   to_string(gradient), each ? to_string(operation.shape(2)) : "one value"));
  }
  return Types{{operation.shape(1), operation.format(1)}};
}

}  // namespace

Expected<Types> infer_softmax(const OperatorTypes& operation) {
  switch (operation.op) {
    case Op::SoftmaxCrossEntropyLoss:
    case Op::NegativeLogLikelihoodLoss: return infer_loss(operation);
    case Op::SoftmaxCrossEntropyLossGrad: return infer_loss_gradient(operation);
    default: MONET_CHECK(check_axes(operation)); return Types{{operation.shape(0), operation.format(0)}};
  }
}

}  // namespace monet
