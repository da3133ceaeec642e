#include "graph/infer.h"

#include "base/try.h"

#include <fmt/format.h>

#include <algorithm>

namespace monet {

namespace {

Status check_loss_reduction(const OperatorTypes& operation) {
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
  const double smoothing = operation.attributes.real_or(Attr::label_smoothing, 0);
  if (!(smoothing >= 0 && smoothing <= 1)) {
    return shape_error(fmt::format("{} has the label smoothing {}", name_of(operation.op), smoothing),
                       "choose from 0 to 1");
  }
  return check_loss_reduction(operation);
}

Status check_one_value(const OperatorTypes& operation) {
  if (std::ranges::all_of(operation.shape(0), [](auto size) { return size == 1; })) return Done{};
  return shape_error(fmt::format("{} has a loss gradient of {} where one value is needed", name_of(operation.op),
                                 to_string(operation.shape(0))),
                     "sum it, or give the gradient of the reduced loss");
}

Expected<Types> infer_loss(const OperatorTypes& operation) {
  MONET_RETURN_IF_ERROR(check_classes(operation, 0));
  const bool each = operation.attributes.text(Attr::reduction) == "none";
  const TensorType loss{each ? operation.shape(1) : Shape{}, operation.format(0)};
  if (operation.op == Op::NegativeLogLikelihoodLoss) return Types{loss};
  return Types{loss, {operation.shape(0), operation.format(0)}};
}

Expected<Types> infer_loss_gradient(const OperatorTypes& operation) {
  MONET_RETURN_IF_ERROR(check_classes(operation, 1));
  const bool each = operation.attributes.text(Attr::reduction) == "none";
  if (!each) MONET_RETURN_IF_ERROR(check_one_value(operation));
  if (each && operation.shape(0) != operation.shape(2)) {
    return shape_error(fmt::format("{} has a loss gradient of {} for labels of {}", name_of(operation.op),
                                   to_string(operation.shape(0)), to_string(operation.shape(2))),
                       "without a reduction there is one gradient for each label");
  }
  return Types{{operation.shape(1), operation.format(1)}};
}

// A target for each value.
Status check_pairs(const OperatorTypes& operation, std::size_t values_at) {
  const TensorType& values = *operation.inputs[values_at];
  const TensorType& targets = *operation.inputs[values_at + 1];
  if (targets.shape != values.shape) {
    return shape_error(fmt::format("{} has targets of {} for values of {}", name_of(operation.op),
                                   to_string(targets.shape), to_string(values.shape)),
                       fmt::format("the targets should be {}", to_string(values.shape)));
  }
  // Which numbers they are is a choice (a recipe of number formats); that they are real ones is not.
  if (!values.format.is_real() || !targets.format.is_real()) {
    return shape_error(fmt::format("{} has values of type {} and targets of type {}", name_of(operation.op),
                                   name_of(values.format.element), name_of(targets.format.element)),
                       "give both a floating-point type");
  }
  const std::string& reduction = operation.attributes.text(Attr::reduction);
  if (reduction == "mean" || reduction == "sum") return Done{};
  return shape_error(fmt::format("{} has no reduction '{}'", name_of(operation.op), reduction), "use mean or sum");
}

Expected<Types> infer_pair_loss(const OperatorTypes& operation) {
  MONET_RETURN_IF_ERROR(check_pairs(operation, 0));
  return Types{{{}, operation.format(0)}};
}

Expected<Types> infer_pair_loss_gradient(const OperatorTypes& operation) {
  MONET_RETURN_IF_ERROR(check_one_value(operation));
  MONET_RETURN_IF_ERROR(check_pairs(operation, 1));
  return Types{{operation.shape(1), operation.format(1)}};
}

Expected<Types> infer_row_gradient(const OperatorTypes& operation) {
  MONET_RETURN_IF_ERROR(check_axes(operation));
  if (operation.shape(0) != operation.shape(1)) {
    return shape_error(fmt::format("{} has a gradient of {} for an output of {}", name_of(operation.op),
                                   to_string(operation.shape(0)), to_string(operation.shape(1))),
                       "give both the shape of the output");
  }
  return Types{{operation.shape(0), operation.format(0)}};
}

}  // namespace

Expected<Types> infer_softmax(const OperatorTypes& operation) {
  switch (operation.op) {
    case Op::SoftmaxCrossEntropyLoss:
    case Op::NegativeLogLikelihoodLoss: return infer_loss(operation);
    case Op::SoftmaxCrossEntropyLossGrad: return infer_loss_gradient(operation);
    case Op::SoftmaxGrad:
    case Op::LogSoftmaxGrad: return infer_row_gradient(operation);
    case Op::MeanSquaredErrorLoss:
    case Op::BinaryCrossEntropyLoss: return infer_pair_loss(operation);
    case Op::MeanSquaredErrorLossGrad:
    case Op::BinaryCrossEntropyLossGrad: return infer_pair_loss_gradient(operation);
    default: MONET_RETURN_IF_ERROR(check_axes(operation)); return Types{{operation.shape(0), operation.format(0)}};
  }
}

}  // namespace monet
