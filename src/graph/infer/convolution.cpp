#include "graph/infer.h"

#include "base/checked.h"
#include "base/try.h"

#include <fmt/format.h>

namespace monet {

namespace {

constexpr std::int64_t largest_value = std::int64_t{1} << 31;

// A list attribute of the right length with every value in [low, 2^31].
Status check_list(const OperatorTypes& operation, Attr key, std::size_t length, std::int64_t low) {
  const std::vector<std::int64_t>& values = operation.attributes.integers(key);
  if (values.size() != length) {
    return shape_error(
        fmt::format("{} has {} {} where {} are due", name_of(operation.op), values.size(), name_of(key), length));
  }
  for (std::int64_t value : values) {
    if (value < low || value > largest_value) {
      return shape_error(fmt::format("{} has {} of {}, outside {} to {}", name_of(operation.op), name_of(key), value,
                                     low, largest_value));
    }
  }
  return Done{};
}

Status check_attributes(const OperatorTypes& operation, std::size_t spatial) {
  MONET_RETURN_IF_ERROR(check_list(operation, Attr::strides, spatial, 1));
  MONET_RETURN_IF_ERROR(check_list(operation, Attr::dilations, spatial, 1));
  MONET_RETURN_IF_ERROR(check_list(operation, Attr::pads, 2 * spatial, 0));
  if (operation.op == Op::ConvTranspose) MONET_RETURN_IF_ERROR(check_list(operation, Attr::output_padding, spatial, 0));
  if (operation.attributes.integer(Attr::group) < 1) {
    return shape_error(
        fmt::format("{} has {} groups", name_of(operation.op), operation.attributes.integer(Attr::group)));
  }
  return Done{};
}

Status check_ranks(const OperatorTypes& operation) {
  const Shape& x = operation.shape(0);
  const Shape& w = operation.shape(1);
  if (x.size() < 3 || x.size() > 5) {
    return shape_error(fmt::format("{} needs an input of batch, channel and one to three more axes, and has {}",
                                   name_of(operation.op), to_string(x)));
  }
  if (w.size() != x.size()) {
    return shape_error(
        fmt::format("{} has weights of {} for an input of {}", name_of(operation.op), to_string(w), to_string(x)));
  }
  for (std::size_t i = 2; i < w.size(); ++i) {
    if (w[i] < 1) return shape_error(fmt::format("{} has an empty kernel in {}", name_of(operation.op), to_string(w)));
  }
  return Done{};
}

// Output channels, after checking that groups divide input and output channels.
Expected<std::int64_t> output_channels(const OperatorTypes& operation) {
  const std::int64_t group = operation.attributes.integer(Attr::group);
  const std::int64_t input_channels = operation.shape(0)[1];
  const Shape& w = operation.shape(1);
  if (operation.op == Op::Conv) {
    if (input_channels % group != 0 || w[1] != input_channels / group) {
      return shape_error(
          fmt::format("Conv has weights {} for {} input channels in {} groups", to_string(w), input_channels, group),
          "the weights' second axis is the input channels of a group");
    }
    if (w[0] % group != 0) {
      return shape_error(fmt::format("Conv cannot divide {} output channels into {} groups", w[0], group));
    }
    return w[0];
  }
  if (w[0] != input_channels || input_channels % group != 0) {
    return shape_error(fmt::format("ConvTranspose has weights {} for {} input channels in {} groups", to_string(w),
                                   input_channels, group),
                       "the weights' first axis is the input channels");
  }
  const auto channels = checked_multiply(w[1], group);
  if (!channels) return shape_error("ConvTranspose has more output channels than can be counted");
  return *channels;
}

// (kernel - 1) * dilation + 1
std::optional<std::int64_t> extent(std::int64_t kernel, std::int64_t dilation) {
  const auto reach = checked_multiply(kernel - 1, dilation);
  return reach ? checked_add(*reach, 1) : std::nullopt;
}

struct Axis {
  std::int64_t input;
  std::int64_t kernel;
  std::int64_t stride;
  std::int64_t dilation;
  std::int64_t pads;  // both ends
  std::int64_t output_padding;
};

Expected<std::int64_t> conv_size(const Axis& axis) {
  const auto reach = extent(axis.kernel, axis.dilation);
  const auto padded = checked_add(axis.input, axis.pads);
  if (!reach || !padded || *reach > *padded) {
    return shape_error(fmt::format("Conv's kernel of {} with dilation {} is larger than its padded input of {}",
                                   axis.kernel, axis.dilation, padded.value_or(axis.input)));
  }
  return (*padded - *reach) / axis.stride + 1;
}

Expected<std::int64_t> transpose_size(const Axis& axis) {
  const auto reach = extent(axis.kernel, axis.dilation);
  const auto steps = checked_multiply(axis.input - 1, axis.stride);
  const auto sum = reach && steps ? checked_add(*reach, *steps) : std::nullopt;
  const auto size = sum ? checked_add(*sum, axis.output_padding - axis.pads) : std::nullopt;
  if (!size) return shape_error("ConvTranspose gives an axis larger than can be counted");
  if (axis.input < 1 || *size < 1) {
    return shape_error(
        fmt::format("ConvTranspose's padding of {} leaves nothing of an input of {}", axis.pads, axis.input));
  }
  return *size;
}

// X[B,C,…] and dY[B,K,…] give dW[K,C/group,…]. dY may have fewer places than the window: the gradient of a
// ConvTranspose whose output was padded by a stride.
Expected<Types> infer_weight_grad(const OperatorTypes& operation) {
  const Shape& x = operation.shape(0);
  const Shape& y = operation.shape(1);
  const Shape& w = operation.attributes.integers(Attr::shape);
  const auto misfit = [&] {
    return shape_error(fmt::format("ConvWeightGrad cannot give weights of {} from an input of {} and a gradient of {}",
                                   to_string(w), to_string(x), to_string(y)));
  };
  if (x.size() < 3 || x.size() > 5 || y.size() != x.size() || w.size() != x.size()) return misfit();
  const std::size_t spatial = x.size() - 2;
  MONET_RETURN_IF_ERROR(check_attributes(operation, spatial));
  const std::int64_t group = operation.attributes.integer(Attr::group);
  if (y[0] != x[0] || x[1] % group != 0 || w[1] != x[1] / group || w[0] != y[1] || w[0] % group != 0) return misfit();
  const std::vector<std::int64_t>& pads = operation.attributes.integers(Attr::pads);
  for (std::size_t i = 0; i < spatial; ++i) {
    if (w[2 + i] < 1) return misfit();
    MONET_TRY(const std::int64_t places, conv_size({.input = x[2 + i],
                                                    .kernel = w[2 + i],
                                                    .stride = operation.attributes.integers(Attr::strides)[i],
                                                    .dilation = operation.attributes.integers(Attr::dilations)[i],
                                                    .pads = pads[i] + pads[spatial + i],
                                                    .output_padding = 0}));
    if (y[2 + i] > places) return misfit();
  }
  return Types{{w, operation.format(0)}};
}

}  // namespace

Expected<Types> infer_convolution(const OperatorTypes& operation) {
  if (operation.op == Op::ConvWeightGrad) return infer_weight_grad(operation);
  MONET_RETURN_IF_ERROR(check_ranks(operation));
  const Shape& x = operation.shape(0);
  const Shape& w = operation.shape(1);
  const std::size_t spatial = x.size() - 2;
  MONET_RETURN_IF_ERROR(check_attributes(operation, spatial));
  MONET_TRY(const std::int64_t channels, output_channels(operation));
  if (operation.has(2) && operation.shape(2) != Shape{channels}) {
    return shape_error(fmt::format("{} has a bias of {} for {} output channels", name_of(operation.op),
                                   to_string(operation.shape(2)), channels));
  }
  const Attributes& attributes = operation.attributes;
  const std::vector<std::int64_t>& pads = attributes.integers(Attr::pads);
  Shape shape = {x[0], channels};
  for (std::size_t i = 0; i < spatial; ++i) {
    Axis axis{.input = x[2 + i],
              .kernel = w[2 + i],
              .stride = attributes.integers(Attr::strides)[i],
              .dilation = attributes.integers(Attr::dilations)[i],
              .pads = pads[i] + pads[spatial + i],
              .output_padding = 0};
    if (operation.op == Op::ConvTranspose) axis.output_padding = attributes.integers(Attr::output_padding)[i];
    MONET_TRY(const std::int64_t size, operation.op == Op::Conv ? conv_size(axis) : transpose_size(axis));
    shape.push_back(size);
  }
  return Types{{std::move(shape), operation.format(0)}};
}

}  // namespace monet
