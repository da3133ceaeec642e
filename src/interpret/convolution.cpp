#include "interpret/interpret.h"

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

// Calls visit(index) for every index inside `sizes`.
template <class Visit>
void for_each(const Triple& sizes, const Visit& visit) {
  for (std::int64_t z = 0; z < sizes[0]; ++z) {
    for (std::int64_t y = 0; y < sizes[1]; ++y) {
      for (std::int64_t x = 0; x < sizes[2]; ++x) visit(Triple{z, y, x});
    }
  }
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

  // visit(offset on the large side, offset in the kernel) for each element under the window at `position`.
  template <class Visit>
  void for_each_inside(const Triple& position, const Triple& large, const Visit& visit) const {
    for_each(kernel, [&](const Triple& filter) {
      Triple at{};
      for (std::size_t i = 0; i < 3; ++i) {
        at[i] = position[i] * strides[i] + filter[i] * dilations[i] - pads[i];
        if (at[i] < 0 || at[i] >= large[i]) return;
      }
      visit(offset_in(large, at), offset_in(kernel, filter));
    });
  }
};

// Adds the products of input channel `c` and output channel `k` of one sample. `weights` is their kernel.
void accumulate(const Window& window, bool transposed, const double* x, const Triple& x_sizes, const double* weights,
                double* y, const Triple& y_sizes) {
  for_each(transposed ? x_sizes : y_sizes, [&](const Triple& position) {
    const std::int64_t here = offset_in(transposed ? x_sizes : y_sizes, position);
    window.for_each_inside(position, transposed ? y_sizes : x_sizes, [&](std::int64_t there, std::int64_t filter) {
      const double product = x[transposed ? here : there] * weights[filter];
      y[transposed ? there : here] += product;
    });
  });
}

}  // namespace

Expected<std::vector<Array>> execute_convolution(const Execution& execution) {
  if (!execution.wants(0)) return std::vector<Array>(execution.output_types.size());
  const Array& x = execution.in(0);
  const Array& w = execution.in(1);
  const bool transposed = execution.op == Op::ConvTranspose;
  const std::int64_t group = execution.attributes.integer(Attr::group);
  Array y = Array::zeros(execution.out_shape(0));
  const Window window = Window::of(execution);
  const Triple x_sizes = spatial_part(x.shape);
  const Triple y_sizes = spatial_part(y.shape);
  const std::int64_t inputs = x.shape[1] / group;
  const std::int64_t outputs = y.shape[1] / group;

  for (std::int64_t b = 0; b < y.shape[0]; ++b) {
    for (std::int64_t channel = 0; channel < y.shape[1]; ++channel) {
      const std::int64_t g = channel / outputs;
      double* y_plane = y.values.data() + (b * y.shape[1] + channel) * volume(y_sizes);
      for (std::int64_t c = 0; c < inputs; ++c) {
        const std::int64_t input_channel = g * inputs + c;
        const std::int64_t filter =
            transposed ? input_channel * outputs + (channel - g * outputs) : channel * inputs + c;
        accumulate(window, transposed, x.values.data() + (b * x.shape[1] + input_channel) * volume(x_sizes), x_sizes,
                   w.values.data() + filter * volume(window.kernel), y_plane, y_sizes);
      }
      if (!execution.has(2)) continue;
      const double bias = execution.in(2).values[static_cast<std::size_t>(channel)];
      for (std::int64_t i = 0; i < volume(y_sizes); ++i) y_plane[i] += bias;
    }
  }
  std::vector<Array> results;
  results.push_back(std::move(y));
  return results;
}

}  // namespace monet
