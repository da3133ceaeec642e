#include "interpret/interpret.h"

#include <cmath>
#include <limits>

namespace monet {

namespace {

// One place of the window: calls visit(index) for every element of `input` under it, and gives how many positions lie
// in the input, or in the padded input when `with_padding`.
template <class Visit>
std::int64_t visit_window(const Attributes& attributes, const Shape& input, const Shape& place, bool with_padding,
                          Visit visit) {
  const auto& kernel = attributes.integers(Attr::kernel_shape);
  const auto& strides = attributes.integers(Attr::strides);
  const auto& dilations = attributes.integers(Attr::dilations);
  const auto& pads = attributes.integers(Attr::pads);
  std::int64_t counted = 0;
  for (IndexCounter filter(kernel); filter.more(); filter.next()) {
    Shape index = place;
    bool inside = true;
    bool in_padding = true;
    for (std::size_t i = 0; i < kernel.size(); ++i) {
      const std::int64_t at = place[i + 2] * strides[i] + filter[i] * dilations[i] - pads[i];
      inside = inside && at >= 0 && at < input[i + 2];
      in_padding = in_padding && at < input[i + 2] + pads[kernel.size() + i];
      index[i + 2] = at;
    }
    if (inside) visit(index);
    if (with_padding ? in_padding : inside) ++counted;
  }
  return counted;
}

// Where MaxPool says an element is: counted through the whole tensor, the spatial axes in either order.
std::int64_t position(const Shape& shape, const Shape& index, bool first_axis_fastest) {
  if (!first_axis_fastest) return offset(shape, index);
  std::int64_t result = 0;
  for (std::size_t axis = shape.size(); axis-- > 2;) result = result * shape[axis] + index[axis];
  std::int64_t plane = 1;
  for (std::size_t axis = 2; axis < shape.size(); ++axis) plane *= shape[axis];
  return (index[0] * shape[1] + index[1]) * plane + result;
}

std::vector<Array> max_pool(const Execution& execution) {
  const Array& input = execution.in(0);
  const bool first_axis_fastest = execution.attributes.integer(Attr::storage_order) != 0;
  Array values = Array::zeros(execution.attributes.integers(Attr::shape));
  Array indices = Array::zeros(execution.attributes.integers(Attr::shape));
  std::size_t at = 0;
  for (IndexCounter place(values.shape); place.more(); place.next(), ++at) {
    double best = -std::numeric_limits<double>::infinity();
    visit_window(execution.attributes, input.shape, place.index(), false, [&](const Shape& index) {
      const double value = input.values[static_cast<std::size_t>(offset(input.shape, index))];
      if (value > best) {
        best = value;
        indices.values[at] = static_cast<double>(position(input.shape, index, first_axis_fastest));
      }
    });
    values.values[at] = best;
  }
  return {std::move(values), std::move(indices)};
}

Array average_pool(const Execution& execution) {
  const Array& input = execution.in(0);
  const bool with_padding = execution.attributes.integer(Attr::count_include_pad) != 0;
  Array output = Array::zeros(execution.out_shape(0));
  std::size_t at = 0;
  for (IndexCounter place(output.shape); place.more(); place.next(), ++at) {
    double sum = 0;
    const std::int64_t counted = visit_window(
        execution.attributes, input.shape, place.index(), with_padding,
        [&](const Shape& index) { sum += input.values[static_cast<std::size_t>(offset(input.shape, index))]; });
    output.values[at] = counted == 0 ? 0 : sum / static_cast<double>(counted);
  }
  return output;
}

Array average_pool_gradient(const Execution& execution) {
  const Array& gradient = execution.in(0);
  const bool with_padding = execution.attributes.integer(Attr::count_include_pad) != 0;
  Array output = Array::zeros(execution.out_shape(0));
  std::size_t at = 0;
  for (IndexCounter place(gradient.shape); place.more(); place.next(), ++at) {
    std::vector<std::size_t> covered;
    const std::int64_t counted = visit_window(
        execution.attributes, output.shape, place.index(), with_padding,
        [&](const Shape& index) { covered.push_back(static_cast<std::size_t>(offset(output.shape, index))); });
    for (std::size_t element : covered) output.values[element] += gradient.values[at] / static_cast<double>(counted);
  }
  return output;
}

Array lp_pool(const Execution& execution) {
  const Array& input = execution.in(0);
  const auto p = static_cast<double>(execution.attributes.integer(Attr::p));
  Array output = Array::zeros(execution.out_shape(0));
  std::size_t at = 0;
  for (IndexCounter place(output.shape); place.more(); place.next(), ++at) {
    double sum = 0;
    visit_window(execution.attributes, input.shape, place.index(), false, [&](const Shape& index) {
      sum += std::pow(std::abs(input.values[static_cast<std::size_t>(offset(input.shape, index))]), p);
    });
    output.values[at] = std::pow(sum, 1 / p);
  }
  return output;
}

}  // namespace

Expected<std::vector<Array>> execute_pool(const Execution& execution) {
  switch (execution.op) {
    case Op::MaxPool: return max_pool(execution);
    case Op::AveragePool: return std::vector<Array>{average_pool(execution)};
    case Op::AveragePoolGrad: return std::vector<Array>{average_pool_gradient(execution)};
    case Op::LpPool: return std::vector<Array>{lp_pool(execution)};
    default: break;
  }
  return Error{.kind = ErrorKind::defect, .message = "not a pooling operator", .place = {}, .advice = {}};
}

}  // namespace monet
