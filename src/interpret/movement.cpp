#include "interpret/interpret.h"

#include "interpret/resample.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace monet {

namespace {

double& at(Array& array, const Shape& index) {
  return array.values[static_cast<std::size_t>(offset(array.shape, index))];
}
double at(const Array& array, const Shape& index) {
  return array.values[static_cast<std::size_t>(offset(array.shape, index))];
}

// A value used as an index along an axis of that size; negative ones count from the end.
Expected<std::int64_t> index_within(double value, std::int64_t size) {
  const double position = value < 0 ? value + static_cast<double>(size) : value;
  if (!(position >= 0 && position < static_cast<double>(size))) {
    return Error{
        .message = fmt::format("the index {} lies outside an axis of {}", value, size), .place = {}, .advice = {}};
  }
  return static_cast<std::int64_t>(position);
}

// Position in an axis of `size` that stands for position x, which may lie outside; -1: none.
std::int64_t padding_source(const std::string& mode, std::int64_t x, std::int64_t size) {
  if (x >= 0 && x < size) return x;
  if (mode == "constant") return -1;
  if (mode == "edge") return std::clamp<std::int64_t>(x, 0, size - 1);
  if (mode == "wrap") return (x % size + size) % size;
  if (size == 1) return 0;
  const std::int64_t period = 2 * (size - 1);
  const std::int64_t phase = (x % period + period) % period;
  return std::min(phase, period - phase);
}

// Negative pads come off first.
Array pad(const Execution& execution) {
  const Array& from = execution.in(0);
  const auto& pads = execution.attributes.integers(Attr::pads);
  const std::string& mode = execution.attributes.text(Attr::mode);
  const double value = execution.has(1) ? execution.in(1).values[0] : 0.0;
  const std::size_t rank = from.shape.size();
  Array to = Array::zeros(execution.out_shape(0));
  for (IndexCounter i(to.shape); i.more(); i.next()) {
    Shape source(rank);
    bool inside = true;
    for (std::size_t axis = 0; axis < rank; ++axis) {
      const std::int64_t front = std::max<std::int64_t>(-pads[axis], 0);
      const std::int64_t back = std::max<std::int64_t>(-pads[axis + rank], 0);
      const std::int64_t size = from.shape[axis] - front - back;
      const std::int64_t x = i[axis] - std::max<std::int64_t>(pads[axis], 0);
      const std::int64_t position = padding_source(mode, x, size);
      inside = inside && position >= 0;
      source[axis] = position + front;
    }
    at(to, i.index()) = inside ? at(from, source) : value;
  }
  return to;
}

Array tile(const Execution& execution) {
  const Array& from = execution.in(0);
  Array to = Array::zeros(execution.out_shape(0));
  for (IndexCounter i(to.shape); i.more(); i.next()) {
    Shape source = i.index();
    for (std::size_t axis = 0; axis < source.size(); ++axis) source[axis] %= from.shape[axis];
    at(to, i.index()) = at(from, source);
  }
  return to;
}

Expected<Array> gather(const Execution& execution) {
  const Array& data = execution.in(0);
  const Array& indices = execution.in(1);
  const std::int64_t axis = execution.attributes.integer(Attr::axis);
  const auto index_rank = static_cast<std::int64_t>(indices.shape.size());
  Array to = Array::zeros(execution.out_shape(0));
  for (IndexCounter i(to.shape); i.more(); i.next()) {
    const auto first = i.index().begin() + axis;
    const auto position =
        index_within(at(indices, Shape(first, first + index_rank)), data.shape[static_cast<std::size_t>(axis)]);
    if (!position) return position.error();
    Shape source(i.index().begin(), first);
    source.push_back(*position);
    source.insert(source.end(), first + index_rank, i.index().end());
    at(to, i.index()) = at(data, source);
  }
  return to;
}

Expected<Array> gather_elements(const Execution& execution) {
  const Array& data = execution.in(0);
  const Array& indices = execution.in(1);
  const auto axis = static_cast<std::size_t>(execution.attributes.integer(Attr::axis));
  Array to = Array::zeros(execution.out_shape(0));
  for (IndexCounter i(to.shape); i.more(); i.next()) {
    const auto position = index_within(at(indices, i.index()), data.shape[axis]);
    if (!position) return position.error();
    Shape source = i.index();
    source[axis] = *position;
    at(to, i.index()) = at(data, source);
  }
  return to;
}

// The place in `data` that element `index` of indices[:-1] x rest names.
Expected<Shape> place_named(const Array& data, const Array& indices, std::size_t batch_axes, const Shape& index) {
  const std::size_t outer = indices.shape.size() - 1;
  const auto first_rest = index.begin() + static_cast<std::ptrdiff_t>(outer);
  Shape tuple(index.begin(), first_rest);
  tuple.push_back(0);
  Shape place(index.begin(), index.begin() + static_cast<std::ptrdiff_t>(batch_axes));
  for (std::int64_t k = 0; k < indices.shape.back(); ++k) {
    tuple.back() = k;
    const auto position = index_within(at(indices, tuple), data.shape[place.size()]);
    if (!position) return position.error();
    place.push_back(*position);
  }
  place.insert(place.end(), first_rest, index.end());
  return place;
}

Expected<Array> gather_nd(const Execution& execution) {
  const auto batch_axes = static_cast<std::size_t>(execution.attributes.integer(Attr::batch_dims));
  Array to = Array::zeros(execution.out_shape(0));
  for (IndexCounter i(to.shape); i.more(); i.next()) {
    const auto place = place_named(execution.in(0), execution.in(1), batch_axes, i.index());
    if (!place) return place.error();
    at(to, i.index()) = at(execution.in(0), *place);
  }
  return to;
}

void update(const std::string& reduction, double& target, double value) {
  if (reduction == "add") {
    target += value;
  } else if (reduction == "mul") {
    target *= value;
  } else if (reduction == "max") {
    target = std::max(target, value);
  } else if (reduction == "min") {
    target = std::min(target, value);
  } else {
    target = value;
  }
}

Expected<Array> scatter(const Execution& execution) {
  const Array& indices = execution.in(1);
  const Array& updates = execution.in(2);
  const std::string& reduction = execution.attributes.text(Attr::reduction);
  Array to = execution.in(0);
  for (IndexCounter i(updates.shape); i.more(); i.next()) {
    Shape place = i.index();
    if (execution.op == Op::ScatterElements) {
      const auto axis = static_cast<std::size_t>(execution.attributes.integer(Attr::axis));
      const auto position = index_within(at(indices, place), to.shape[axis]);
      if (!position) return position.error();
      place[axis] = *position;
    } else {
      auto named = place_named(to, indices, 0, place);
      if (!named) return named.error();
      place = std::move(*named);
    }
    update(reduction, at(to, place), at(updates, i.index()));
  }
  return to;
}

Array trilu(const Execution& execution) {
  Array to = execution.in(0);
  const auto k = static_cast<double>(execution.attributes.integer(Attr::k));
  const bool upper = execution.attributes.integer(Attr::upper) != 0;
  const std::size_t rank = to.shape.size();
  for (IndexCounter i(to.shape); i.more(); i.next()) {
    const auto diagonal = static_cast<double>(i[rank - 1] - i[rank - 2]);
    if (upper ? diagonal < k : diagonal > k) at(to, i.index()) = 0;
  }
  return to;
}

// An index outside [-depth, depth) has no place: every value is `off`.
Array one_hot(const Execution& execution) {
  const auto axis = static_cast<std::ptrdiff_t>(execution.attributes.integer(Attr::axis));
  const auto depth = static_cast<double>(execution.attributes.integer(Attr::depth));
  const Array& values = execution.in(1);
  Array to = Array::zeros(execution.out_shape(0));
  for (IndexCounter i(to.shape); i.more(); i.next()) {
    Shape source = i.index();
    source.erase(source.begin() + axis);
    double hot = std::trunc(at(execution.in(0), source));
    if (hot < 0) hot += depth;
    at(to, i.index()) = values.values[hot == static_cast<double>(i[static_cast<std::size_t>(axis)]) ? 1 : 0];
  }
  return to;
}

Expected<Array> reverse_sequence(const Execution& execution) {
  const Array& from = execution.in(0);
  const auto batch = static_cast<std::size_t>(execution.attributes.integer(Attr::batch_axis));
  const auto time = static_cast<std::size_t>(execution.attributes.integer(Attr::time_axis));
  for (double length : execution.in(1).values) {
    if (!(length >= 0 && length <= static_cast<double>(from.shape[time]))) {
      return Error{.message = fmt::format("the length {} lies outside an axis of {}", length, from.shape[time]),
                   .place = {},
                   .advice = {}};
    }
  }
  Array to = Array::zeros(from.shape);
  for (IndexCounter i(from.shape); i.more(); i.next()) {
    const auto length = static_cast<std::int64_t>(execution.in(1).values[static_cast<std::size_t>(i[batch])]);
    Shape source = i.index();
    if (i[time] < length) source[time] = length - 1 - i[time];
    at(to, i.index()) = at(from, source);
  }
  return to;
}

Expected<Array> max_unpool(const Execution& execution) {
  const Array& from = execution.in(0);
  Array to = Array::zeros(execution.out_shape(0));
  for (std::size_t i = 0; i < from.values.size(); ++i) {
    const auto place = index_within(execution.in(1).values[i], static_cast<std::int64_t>(to.values.size()));
    if (!place) return place.error();
    to.values[static_cast<std::size_t>(*place)] = from.values[i];
  }
  return to;
}

Expected<Array> moved(const Execution& execution) {
  switch (execution.op) {
    case Op::Pad: return pad(execution);
    case Op::Tile: return tile(execution);
    case Op::Gather: return gather(execution);
    case Op::GatherElements: return gather_elements(execution);
    case Op::GatherND: return gather_nd(execution);
    case Op::ScatterElements:
    case Op::ScatterND: return scatter(execution);
    case Op::Trilu: return trilu(execution);
    case Op::Resize: return execute_resize(execution);
    case Op::GridSample: return execute_grid_sample(execution);
    case Op::OneHot: return one_hot(execution);
    case Op::ReverseSequence: return reverse_sequence(execution);
    case Op::MaxUnpool: return max_unpool(execution);
    default: return Error{.kind = ErrorKind::defect, .message = "not a movement", .place = {}, .advice = {}};
  }
}

}  // namespace

Expected<std::vector<Array>> execute_movement(const Execution& execution) {
  if (!execution.wants(0)) return std::vector<Array>(execution.output_types.size());
  auto result = moved(execution);
  if (!result) return result.error();
  std::vector<Array> results;
  results.push_back(std::move(*result));
  return results;
}

}  // namespace monet
