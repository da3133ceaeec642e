#include "interpret/interpret.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace monet {

namespace {

// Which row each element is normalized with, and the statistics of the rows.
struct Rows {
  std::vector<std::size_t> of_element;
  std::size_t count = 0;

  std::vector<double> mean_of(std::span<const double> values) const {
    std::vector<double> sums(count, 0);
    std::vector<double> sizes(count, 0);
    for (std::size_t i = 0; i < values.size(); ++i) {
      sums[of_element[i]] += values[i];
      sizes[of_element[i]] += 1;
    }
    for (std::size_t row = 0; row < count; ++row) sums[row] /= sizes[row];
    return sums;
  }

  // Divided by the number of elements.
  std::vector<double> variance_of(std::span<const double> values, std::span<const double> mean) const {
    std::vector<double> squares(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) squares[i] = std::pow(values[i] - mean[of_element[i]], 2);
    return mean_of(squares);
  }
};

Rows rows_over(const Shape& shape, std::span<const std::int64_t> axes) {
  Shape left = shape;
  for (std::int64_t axis : axes) left[static_cast<std::size_t>(axis)] = 1;
  Rows rows{.of_element = {}, .count = static_cast<std::size_t>(element_count(left))};
  for (IndexCounter index(shape); index.more(); index.next()) {
    rows.of_element.push_back(static_cast<std::size_t>(broadcast_offset(left, index.index())));
  }
  return rows;
}

// 1 / sqrt(variance + epsilon)
std::vector<double> inverse_deviation(const Execution& execution, std::vector<double> variance) {
  for (double& value : variance) value = 1 / std::sqrt(value + execution.attributes.real(Attr::epsilon));
  return variance;
}

std::vector<std::int64_t> axes_from(std::int64_t first, std::size_t rank) {
  std::vector<std::int64_t> axes(rank - static_cast<std::size_t>(first));
  std::iota(axes.begin(), axes.end(), first);
  return axes;
}

// (x - mean) / sqrt(variance + epsilon) * scale + bias; scale and bias by channel.
Array normalized_by_channel(const Execution& execution, const Rows& rows, std::span<const double> mean,
                            std::span<const double> variance) {
  const Array& input = execution.in(0);
  const double epsilon = execution.attributes.real(Attr::epsilon);
  Array output = Array::zeros(input.shape);
  std::size_t at = 0;
  for (IndexCounter index(input.shape); index.more(); index.next(), ++at) {
    const std::size_t row = rows.of_element[at];
    const auto channel = static_cast<std::size_t>(index[1]);
    const double value = (input.values[at] - mean[row]) / std::sqrt(variance[row] + epsilon);
    output.values[at] = value * execution.in(1).values[channel] + execution.in(2).values[channel];
  }
  return output;
}

std::vector<Array> batch(const Execution& execution) {
  const Array& input = execution.in(0);
  std::vector<std::int64_t> axes = axes_from(1, input.shape.size());
  axes[0] = 0;
  const Rows rows = rows_over(input.shape, axes);
  if (execution.attributes.integer(Attr::training_mode) == 0) {
    return {normalized_by_channel(execution, rows, execution.in(3).values, execution.in(4).values)};
  }
  const std::vector<double> mean = rows.mean_of(input.values);
  const std::vector<double> variance = rows.variance_of(input.values, mean);
  const double momentum = execution.attributes.real(Attr::momentum);
  Array running_mean = execution.in(3);
  Array running_variance = execution.in(4);
  for (std::size_t channel = 0; channel < mean.size(); ++channel) {
    running_mean.values[channel] = momentum * running_mean.values[channel] + (1 - momentum) * mean[channel];
    running_variance.values[channel] = momentum * running_variance.values[channel] + (1 - momentum) * variance[channel];
  }
  Array output = normalized_by_channel(execution, rows, mean, variance);
  const Shape channels = {input.shape[1]};
  return {std::move(output),
          std::move(running_mean),
          std::move(running_variance),
          {channels, mean},
          {channels, inverse_deviation(execution, variance)}};
}

std::vector<Array> layer(const Execution& execution) {
  const Array& input = execution.in(0);
  const std::int64_t axis = execution.attributes.integer(Attr::axis);
  const bool centred = execution.op == Op::LayerNormalization;
  const Rows rows = rows_over(input.shape, axes_from(axis, input.shape.size()));
  std::vector<double> mean(rows.count, 0);
  if (centred) mean = rows.mean_of(input.values);
  std::vector<double> inverse = inverse_deviation(execution, rows.variance_of(input.values, mean));
  Array output = Array::zeros(input.shape);
  std::size_t at = 0;
  for (IndexCounter index(input.shape); index.more(); index.next(), ++at) {
    const std::size_t row = rows.of_element[at];
    double value = (input.values[at] - mean[row]) * inverse[row];
    const auto element_of = [&](const Array& array) {
      return array.values[static_cast<std::size_t>(broadcast_offset(array.shape, index.index()))];
    };
    value *= element_of(execution.in(1));
    if (execution.has(2)) value += element_of(execution.in(2));
    output.values[at] = value;
  }
  Shape row_shape = input.shape;
  std::fill(row_shape.begin() + axis, row_shape.end(), 1);
  if (!centred) return {std::move(output), {row_shape, std::move(inverse)}};
  return {std::move(output), {row_shape, std::move(mean)}, {row_shape, std::move(inverse)}};
}

std::vector<Array> by_group(const Execution& execution, std::int64_t groups) {
  const Shape& shape = execution.in(0).shape;
  Rows rows{.of_element = {}, .count = static_cast<std::size_t>(shape[0] * groups)};
  const std::int64_t channels_of_group = groups == 0 ? 0 : shape[1] / groups;
  for (IndexCounter index(shape); index.more(); index.next()) {
    rows.of_element.push_back(static_cast<std::size_t>(index[0] * groups + index[1] / channels_of_group));
  }
  const std::vector<double> mean = rows.mean_of(execution.in(0).values);
  const std::vector<double> variance = rows.variance_of(execution.in(0).values, mean);
  const Shape statistics = {shape[0], groups};
  return {normalized_by_channel(execution, rows, mean, variance),
          {statistics, mean},
          {statistics, inverse_deviation(execution, variance)}};
}

Array lp(const Execution& execution) {
  const std::int64_t axis = execution.attributes.integer(Attr::axis);
  const bool squared = execution.attributes.integer(Attr::p) == 2;
  Array output = execution.in(0);
  const Rows rows = rows_over(output.shape, {&axis, 1});
  std::vector<double> length(rows.count, 0);
  for (std::size_t i = 0; i < output.values.size(); ++i) {
    const double value = output.values[i];
    length[rows.of_element[i]] += squared ? value * value : std::abs(value);
  }
  for (std::size_t i = 0; i < output.values.size(); ++i) {
    const double divisor = squared ? std::sqrt(length[rows.of_element[i]]) : length[rows.of_element[i]];
    output.values[i] = divisor == 0 ? 0 : output.values[i] / divisor;
  }
  return output;
}

// ONNX's definition adds its 1e-9 to the deviation, not to the variance.
Array mean_variance(const Execution& execution) {
  Array output = execution.in(0);
  const Rows rows = rows_over(output.shape, execution.attributes.integers(Attr::axes));
  const std::vector<double> mean = rows.mean_of(output.values);
  const std::vector<double> variance = rows.variance_of(output.values, mean);
  for (std::size_t i = 0; i < output.values.size(); ++i) {
    const std::size_t row = rows.of_element[i];
    output.values[i] = (output.values[i] - mean[row]) / (std::sqrt(variance[row]) + 1e-9);
  }
  return output;
}

Array local_response(const Execution& execution) {
  const Array& input = execution.in(0);
  const Attributes& attributes = execution.attributes;
  const std::int64_t size = attributes.integer(Attr::size);
  Array output = Array::zeros(input.shape);
  std::size_t at = 0;
  for (IndexCounter index(input.shape); index.more(); index.next(), ++at) {
    double sum = 0;
    Shape neighbour = index.index();
    const std::int64_t first = std::max<std::int64_t>(0, index[1] - (size - 1) / 2);
    const std::int64_t last = std::min(input.shape[1] - 1, index[1] + size / 2);
    for (neighbour[1] = first; neighbour[1] <= last; ++neighbour[1]) {
      sum += std::pow(input.values[static_cast<std::size_t>(offset(input.shape, neighbour))], 2);
    }
    const double base = attributes.real(Attr::bias) + attributes.real(Attr::alpha) / static_cast<double>(size) * sum;
    output.values[at] = input.values[at] / std::pow(base, attributes.real(Attr::beta));
  }
  return output;
}

}  // namespace

Expected<std::vector<Array>> execute_norm(const Execution& execution) {
  switch (execution.op) {
    case Op::BatchNormalization: return batch(execution);
    case Op::LayerNormalization:
    case Op::RMSNormalization: return layer(execution);
    case Op::GroupNormalization: return by_group(execution, execution.attributes.integer(Attr::num_groups));
    case Op::InstanceNormalization: return by_group(execution, execution.in(0).shape[1]);
    case Op::LpNormalization: return std::vector<Array>{lp(execution)};
    case Op::MeanVarianceNormalization: return std::vector<Array>{mean_variance(execution)};
    default: return std::vector<Array>{local_response(execution)};
  }
}

}  // namespace monet
