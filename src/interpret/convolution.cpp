#include "interpret/interpret.h"

#include <algorithm>
#include <array>

namespace monet {

namespace {

using Triple = std::array<std::int64_t, 3>;  // depth, height, width; missing axes in front have size 1

Triple spatial_part(const Shape& shape) {
  Triple sizes = {1, 1, 1};
  for (std::size_t i = 2; i < shape.size(); ++i) sizes[3 - (shape.size() - i)] = shape[i];
  return sizes;
}

Triple parameters(const std::vector<std::int64_t>& values, std::size_t count, std::int64_t otherwise) {
  Triple result = {otherwise, otherwise, otherwise};
  for (std::size_t i = 0; i < count; ++i) result[3 - count + i] = values[i];
  return result;
}

std::int64_t volume(const Triple& sizes) { return sizes[0] * sizes[1] * sizes[2]; }

std::int64_t offset_in(const Triple& sizes, const Triple& at) { return (at[0] * sizes[1] + at[1]) * sizes[2] + at[2]; }
Triple index_in(const Triple& sizes, std::int64_t at) {
  return {at / (sizes[1] * sizes[2]), at / sizes[2] % sizes[1], at % sizes[2]};
}

// How positions of the small side (a convolution's output) meet positions of the large side (its input).
struct Window {
  Triple kernel;
  Triple strides;
  Triple dilations;
  Triple pads;

  static Window of(const Execution& execution) {
    const Shape& weights = execution.in(1).shape;
    const std::size_t count = weights.size() - 2;
    return {spatial_part(weights), parameters(execution.attributes.integers(Attr::strides), count, 1),
            parameters(execution.attributes.integers(Attr::dilations), count, 1),
            parameters(execution.attributes.integers(Attr::pads), count, 0)};
  }

  // Where along an axis the element `filter` of the window at `position` lies, which may be outside.
  std::int64_t large(std::size_t axis, std::int64_t position, std::int64_t filter) const {
    return position * strides[axis] + filter * dilations[axis] - pads[axis];
  }
  // The position whose window has its element `filter` there; -1: none has.
  std::int64_t small(std::size_t axis, std::int64_t there, std::int64_t filter) const {
    const std::int64_t distance = there + pads[axis] - filter * dilations[axis];
    return distance >= 0 && distance % strides[axis] == 0 ? distance / strides[axis] : -1;
  }
};

constexpr std::int64_t outside = -1;

// For each element of the kernel and each position of the output, the position of the input that meets there. Of a
// transposed convolution the kernel runs backwards, and so the input forwards.
std::vector<std::int64_t> meetings(const Window& window, bool transposed, const Triple& x_sizes,
                                   const Triple& y_sizes) {
  std::vector<std::int64_t> sources;
  sources.reserve(static_cast<std::size_t>(volume(window.kernel) * volume(y_sizes)));
  const std::int64_t filters = volume(window.kernel);
  for (std::int64_t n = 0; n < filters; ++n) {
    const Triple filter = index_in(window.kernel, transposed ? filters - 1 - n : n);
    for (std::int64_t position = 0; position < volume(y_sizes); ++position) {
      const Triple at = index_in(y_sizes, position);
      Triple source{};
      bool inside = true;
      for (std::size_t i = 0; i < 3; ++i) {
        source[i] = transposed ? window.small(i, at[i], filter[i]) : window.large(i, at[i], filter[i]);
        inside = inside && source[i] >= 0 && source[i] < x_sizes[i];
      }
      sources.push_back(inside ? offset_in(x_sizes, source) : outside);
    }
  }
  return sources;
}

// One group of channels: the product of its weights, a row for each output channel, and of what they meet, a column for
// each position of each sample. Terms are in the order of channels, then of `meetings`; outside the input they are 0.
class GroupProduct {
 public:
  GroupProduct(const Execution& execution, Array& y)
      : x_(execution.in(0)),
        w_(execution.in(1)),
        y_(y),
        transposed_(execution.op == Op::ConvTranspose),
        window_(Window::of(execution)),
        x_volume_(volume(spatial_part(x_.shape))),
        y_volume_(volume(spatial_part(y.shape))),
        filters_(volume(window_.kernel)),
        inputs_(x_.shape[1] / execution.attributes.integer(Attr::group)),
        outputs_(y.shape[1] / execution.attributes.integer(Attr::group)),
        sources_(meetings(window_, transposed_, spatial_part(x_.shape), spatial_part(y.shape))) {}

  void add(std::int64_t group) {
    const std::vector<double> weights = weights_of(group);
    const std::int64_t all = y_.shape[0] * y_volume_;
    for (std::int64_t first = 0; first < all; first += most_columns) {
      const std::int64_t columns = std::min(most_columns, all - first);
      gather(group, first, columns);
      for (std::int64_t k = 0; k < outputs_; ++k) {
        row_.assign(static_cast<std::size_t>(columns), 0.0);
        add_row_times_matrix(weights.data() + k * inputs_ * filters_, 1, matrix_.data(), inputs_ * filters_, columns,
                             row_.data());
        for (std::int64_t i = 0; i < columns; ++i) {
          const std::int64_t sample = (first + i) / y_volume_;
          const std::int64_t plane = sample * y_.shape[1] + group * outputs_ + k;
          y_.values[static_cast<std::size_t>(plane * y_volume_ + (first + i) % y_volume_)] =
              row_[static_cast<std::size_t>(i)];
        }
      }
    }
  }

 private:
  static constexpr std::int64_t most_columns = 128;  // so that a matrix of usual size stays near the processor

  std::vector<double> weights_of(std::int64_t group) const {
    std::vector<double> weights(static_cast<std::size_t>(outputs_ * inputs_ * filters_));
    std::size_t to = 0;
    for (std::int64_t k = 0; k < outputs_; ++k) {
      for (std::int64_t c = 0; c < inputs_; ++c) {
        const std::int64_t kernel =
            transposed_ ? (group * inputs_ + c) * outputs_ + k : (group * outputs_ + k) * inputs_ + c;
        for (std::int64_t n = 0; n < filters_; ++n) {
          const std::int64_t filter = transposed_ ? filters_ - 1 - n : n;
          weights[to++] = w_.values[static_cast<std::size_t>(kernel * filters_ + filter)];
        }
      }
    }
    return weights;
  }

  void gather(std::int64_t group, std::int64_t first, std::int64_t columns) {
    matrix_.resize(static_cast<std::size_t>(inputs_ * filters_ * columns));
    double* to = matrix_.data();
    for (std::int64_t c = 0; c < inputs_; ++c) {
      for (std::int64_t n = 0; n < filters_; ++n) {
        std::int64_t sample = first / y_volume_;
        std::int64_t position = first % y_volume_;
        for (std::int64_t i = 0; i < columns; ++i) {
          const std::int64_t source = sources_[static_cast<std::size_t>(n * y_volume_ + position)];
          const std::int64_t plane = sample * x_.shape[1] + group * inputs_ + c;
          *to++ = source == outside ? 0.0 : x_.values[static_cast<std::size_t>(plane * x_volume_ + source)];
          if (++position == y_volume_) position = 0, ++sample;
        }
      }
    }
  }

  const Array& x_;
  const Array& w_;
  Array& y_;
  bool transposed_;
  Window window_;
  std::int64_t x_volume_, y_volume_, filters_;
  std::int64_t inputs_, outputs_;  // channels of a group
  std::vector<std::int64_t> sources_;
  std::vector<double> matrix_, row_;
};

}  // namespace

Expected<std::vector<Array>> execute_convolution(const Execution& execution) {
  if (!execution.wants(0)) return std::vector<Array>(execution.output_types.size());
  Array y = Array::zeros(execution.out_shape(0));
  if (!y.values.empty()) {
    GroupProduct product(execution, y);
    for (std::int64_t group = 0; group < execution.attributes.integer(Attr::group); ++group) product.add(group);
  }
  if (execution.has(2)) {
    const std::int64_t plane = volume(spatial_part(y.shape));
    for (std::size_t i = 0; i < y.values.size(); ++i) {
      const std::int64_t channel = static_cast<std::int64_t>(i) / plane % y.shape[1];
      y.values[i] += execution.in(2).values[static_cast<std::size_t>(channel)];
    }
  }
  std::vector<Array> results;
  results.push_back(std::move(y));
  return results;
}

}  // namespace monet
