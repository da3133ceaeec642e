#include "interpret/interpret.h"

#include "base/try.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

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

// The labels of a loss, and what each class counts in it.
struct Targets {
  std::int64_t axis;
  double smoothing;
  std::vector<double> class_weights;
  std::vector<std::int64_t> labels;  // -1: ignored
  double divisor = 1;                // of the mean; 1 for other reductions

  // The class's part of the target: a loss is -sum(part * log-probability).
  double part(std::int64_t label, std::size_t of_class) const {
    const double hit = std::cmp_equal(label, of_class) ? 1 - smoothing : 0;
    return class_weights[of_class] * (hit + smoothing / static_cast<double>(class_weights.size()));
  }
};

Expected<Targets> targets_of(const Execution& execution, std::size_t scores_at) {
  const Attributes& attributes = execution.attributes;
  const std::int64_t axis = attributes.integer_or(Attr::axis, 1);
  const std::int64_t classes = execution.in(scores_at).shape[static_cast<std::size_t>(axis)];
  Targets targets{.axis = axis,
                  .smoothing = attributes.real_or(Attr::label_smoothing, 0),
                  .class_weights = std::vector<double>(static_cast<std::size_t>(classes), 1),
                  .labels = {}};
  if (execution.has(scores_at + 2)) targets.class_weights = execution.in(scores_at + 2).values;
  std::optional<std::int64_t> ignored;
  if (attributes.has(Attr::ignore_index)) ignored = attributes.integer(Attr::ignore_index);
  double total = 0;
  for (double value : execution.in(scores_at + 1).values) {
    auto label = static_cast<std::int64_t>(value);
    if (label == ignored) {
      label = -1;
    } else if (label < 0 || label >= classes) {
      return Error{
          .message = fmt::format("label {} is not one of {} classes", label, classes), .place = {}, .advice = {}};
    } else {
      total += targets.class_weights[static_cast<std::size_t>(label)];
    }
    targets.labels.push_back(label);
  }
  if (attributes.text(Attr::reduction) == "mean") targets.divisor = total;
  return targets;
}

Array loss_of(const Array& log_probability, const Shape& label_shape, const Targets& targets, bool each) {
  Array loss = Array::zeros(each ? label_shape : Shape{});
  std::size_t at = 0;
  for (IndexCounter position(label_shape); position.more(); position.next(), ++at) {
    if (targets.labels[at] < 0) continue;
    for (std::size_t of_class = 0; of_class < targets.class_weights.size(); ++of_class) {
      const double part = targets.part(targets.labels[at], of_class);
      if (part == 0) continue;
      Shape index = position.index();
      index.insert(index.begin() + targets.axis, static_cast<std::int64_t>(of_class));
      const double value = log_probability.values[static_cast<std::size_t>(offset(log_probability.shape, index))];
      loss.values[each ? at : 0] -= part * value;
    }
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
  std::vector<double> totals;  // of the parts of all classes, by position
  for (std::int64_t label : targets.labels) {
    totals.push_back(0);
    for (std::size_t i = 0; i < targets.class_weights.size(); ++i) totals.back() += targets.part(label, i);
  }
  std::size_t at = 0;
  for (IndexCounter index(output.shape); index.more(); index.next(), ++at) {
    Shape position = index.index();
    position.erase(position.begin() + targets.axis);
    const auto which = static_cast<std::size_t>(offset(execution.in(2).shape, position));
    const std::int64_t label = targets.labels[which];
    if (label < 0) continue;
    const double part = targets.part(label, static_cast<std::size_t>(index[static_cast<std::size_t>(targets.axis)]));
    const double scale = execution.in(0).values[each ? which : 0] / targets.divisor;
    output.values[at] = scale * (totals[which] * std::exp(log_probability.values[at]) - part);
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
