#include "interpret/interpret.h"

#include "base/try.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace monet {

namespace {

Array log_softmax(const Array& input, std::span<const std::int64_t> axes) {
  Shape rows = input.shape;
  for (std::int64_t axis : axes) rows[static_cast<std::size_t>(axis)] = 1;
  const auto row = [&](const IndexCounter& index) {
    return static_cast<std::size_t>(broadcast_offset(rows, index.index()));
  };
  const auto row_count = static_cast<std::size_t>(element_count(rows));
  std::vector<double> maximum(row_count, -std::numeric_limits<double>::infinity());
  std::vector<double> sum(row_count, 0);
  std::size_t at = 0;
  for (IndexCounter index(input.shape); index.more(); index.next(), ++at) {
    maximum[row(index)] = std::max(maximum[row(index)], input.values[at]);
  }
  at = 0;
  for (IndexCounter index(input.shape); index.more(); index.next(), ++at) {
    sum[row(index)] += std::exp(input.values[at] - maximum[row(index)]);
  }
  Array output = Array::zeros(input.shape);
  at = 0;
  for (IndexCounter index(input.shape); index.more(); index.next(), ++at) {
    output.values[at] = input.values[at] - maximum[row(index)] - std::log(sum[row(index)]);
  }
  return output;
}

// The labels of a loss with what weighs each of them: 0 where the label is to be ignored.
struct Targets {
  std::int64_t axis;
  std::vector<std::int64_t> labels;
  std::vector<double> weights;
  double divisor = 1;  // of the mean; 1 for other reductions
};

Expected<Targets> targets_of(const Execution& execution, std::size_t scores_at) {
  const Attributes& attributes = execution.attributes;
  Targets targets{.axis = attributes.integer_or(Attr::axis, 1), .labels = {}, .weights = {}};
  const std::int64_t classes = execution.in(scores_at).shape[static_cast<std::size_t>(targets.axis)];
  std::optional<std::int64_t> ignored;
  if (attributes.has(Attr::ignore_index)) ignored = attributes.integer(Attr::ignore_index);
  double total = 0;
  for (double value : execution.in(scores_at + 1).values) {
    auto label = static_cast<std::int64_t>(value);
    double weight = 0;
    if (label == ignored) {
      label = -1;
    } else if (label < 0 || label >= classes) {
      return Error{
          .message = fmt::format("label {} is not one of {} classes", label, classes), .place = {}, .advice = {}};
    } else {
      weight = execution.has(scores_at + 2) ? execution.in(scores_at + 2).values[static_cast<std::size_t>(label)] : 1;
    }
    targets.labels.push_back(label);
    targets.weights.push_back(weight);
    total += weight;
  }
  if (attributes.text(Attr::reduction) == "mean") targets.divisor = total;
  return targets;
}

Array loss_of(const Array& log_probability, const Shape& label_shape, const Targets& targets, bool each) {
  Array loss = Array::zeros(each ? label_shape : Shape{});
  std::size_t at = 0;
  for (IndexCounter position(label_shape); position.more(); position.next(), ++at) {
    if (targets.labels[at] < 0) continue;
    Shape index = position.index();
    index.insert(index.begin() + targets.axis, targets.labels[at]);
    const double value = log_probability.values[static_cast<std::size_t>(offset(log_probability.shape, index))];
    loss.values[each ? at : 0] -= targets.weights[at] * value;
  }
  if (!each) loss.values[0] /= targets.divisor;
  return loss;
}

Expected<std::vector<Array>> loss(const Execution& execution) {
  MONET_TRY(const Targets targets, targets_of(execution, 0));
  const bool each = execution.attributes.text(Attr::reduction) == "none";
  if (execution.op == Op::NegativeLogLikelihoodLoss) {
    return std::vector<Array>{loss_of(execution.in(0), execution.in(1).shape, targets, each)};
  }
  Array log_probability = log_softmax(execution.in(0), {&targets.axis, 1});
  Array value = loss_of(log_probability, execution.in(1).shape, targets, each);
  return std::vector<Array>{std::move(value), std::move(log_probability)};
}

Expected<std::vector<Array>> loss_gradient(const Execution& execution) {
  MONET_TRY(const Targets targets, targets_of(execution, 1));
  const bool each = execution.attributes.text(Attr::reduction) == "none";
  const Array& log_probability = execution.in(1);
  Array output = Array::zeros(log_probability.shape);
  std::size_t at = 0;
  for (IndexCounter index(output.shape); index.more(); index.next(), ++at) {
    Shape position = index.index();
    position.erase(position.begin() + targets.axis);
    const auto label = static_cast<std::size_t>(offset(execution.in(2).shape, position));
    if (targets.labels[label] < 0) continue;
    const bool hit = index[static_cast<std::size_t>(targets.axis)] == targets.labels[label];
    const double scale = execution.in(0).values[each ? label : 0] * targets.weights[label] / targets.divisor;
    output.values[at] = scale * (std::exp(log_probability.values[at]) - (hit ? 1 : 0));
  }
  return std::vector<Array>{std::move(output)};
}

}  // namespace

Expected<std::vector<Array>> execute_softmax(const Execution& execution) {
  switch (execution.op) {
    case Op::Softmax: {
      Array output = log_softmax(execution.in(0), execution.attributes.integers(Attr::axes));
      for (double& value : output.values) value = std::exp(value);
      return std::vector<Array>{std::move(output)};
    }
    case Op::LogSoftmax:
      return std::vector<Array>{log_softmax(execution.in(0), execution.attributes.integers(Attr::axes))};
    case Op::SoftmaxCrossEntropyLossGrad: return loss_gradient(execution);
    default: return loss(execution);
  }
}

}  // namespace monet
