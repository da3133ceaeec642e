#include "interpret/interpret.h"

#include <algorithm>

namespace monet {

namespace {

// Element of output 0 at each index from the element of input 0 that `source` names.
template <class Source>
Array rearranged(const Execution& execution, Source source) {
  const Array& from = execution.in(0);
  Array to = Array::zeros(execution.out_shape(0));
  std::size_t at = 0;
  for (IndexCounter i(to.shape); i.more(); i.next()) {
    to.values[at++] = from.values[static_cast<std::size_t>(offset(from.shape, source(i.index())))];
  }
  return to;
}

Array transpose(const Execution& execution) {
  const auto& order = execution.attributes.integers(Attr::perm);
  const Array& from = execution.in(0);
  Array to = Array::zeros(execution.out_shape(0));
  if (to.shape.empty()) return from;
  // How far apart neighbours along each axis of the result lie in the input.
  std::vector<std::int64_t> steps(order.size());
  std::int64_t step = 1;
  for (std::size_t axis = order.size(); axis-- > 0;) {
    steps[static_cast<std::size_t>(std::ranges::find(order, static_cast<std::int64_t>(axis)) - order.begin())] = step;
    step *= from.shape[axis];
  }
  double* at = to.values.data();
  for (IndexCounter row(std::span(to.shape).first(to.shape.size() - 1)); row.more() && !to.values.empty(); row.next()) {
    const double* source = from.values.data();
    for (std::size_t axis = 0; axis + 1 < steps.size(); ++axis) source += row[axis] * steps[axis];
    for (std::int64_t i = 0; i < to.shape.back(); ++i) *at++ = source[i * steps.back()];
  }
  return to;
}

Array slice(const Execution& execution) {
  const auto& axes = execution.attributes.integers(Attr::axes);
  const auto& starts = execution.attributes.integers(Attr::starts);
  const auto& steps = execution.attributes.integers(Attr::steps);
  return rearranged(execution, [&](Shape index) {
    for (std::size_t i = 0; i < axes.size(); ++i) {
      std::int64_t& position = index[static_cast<std::size_t>(axes[i])];
      position = starts[i] + position * steps[i];
    }
    return index;
  });
}

// Depth is block row, block column, channel (DCR) or channel, block row, block column (CRD).
Array depth_to_space(const Execution& execution) {
  const std::int64_t block = execution.attributes.integer(Attr::blocksize);
  const bool depth_first = execution.attributes.text(Attr::mode) == "DCR";
  const std::int64_t channels = execution.out_shape(0)[1];
  return rearranged(execution, [&](const Shape& index) {
    const std::int64_t in_block = index[2] % block * block + index[3] % block;
    const std::int64_t depth = depth_first ? in_block * channels + index[1] : index[1] * block * block + in_block;
    return Shape{index[0], depth, index[2] / block, index[3] / block};
  });
}

Array space_to_depth(const Execution& execution) {
  const std::int64_t block = execution.attributes.integer(Attr::blocksize);
  const std::int64_t channels = execution.in(0).shape[1];
  return rearranged(execution, [&](const Shape& index) {
    const std::int64_t in_block = index[1] / channels;
    return Shape{index[0], index[1] % channels, index[2] * block + in_block / block,
                 index[3] * block + in_block % block};
  });
}

Array expand(const Execution& execution) {
  const Array& from = execution.in(0);
  Array to = Array::zeros(execution.out_shape(0));
  std::size_t at = 0;
  for (IndexCounter i(to.shape); i.more(); i.next()) {
    to.values[at++] = from.values[static_cast<std::size_t>(broadcast_offset(from.shape, i.index()))];
  }
  return to;
}

std::vector<Array> split(const Execution& execution) {
  const Array& from = execution.in(0);
  const auto axis = static_cast<std::size_t>(execution.attributes.integer(Attr::axis));
  const auto& sizes = execution.attributes.integers(Attr::split);
  std::vector<Array> parts(execution.output_types.size());
  std::int64_t start = 0;
  for (std::size_t part = 0; part < parts.size(); ++part) {
    if (execution.wants(part)) {
      parts[part] = Array::zeros(execution.out_shape(part));
      std::size_t at = 0;
      for (IndexCounter i(parts[part].shape); i.more(); i.next()) {
        Shape source = i.index();
        source[axis] += start;
        parts[part].values[at++] = from.values[static_cast<std::size_t>(offset(from.shape, source))];
      }
    }
    start += sizes[part];
  }
  return parts;
}

Array concat(const Execution& execution) {
  const auto axis = static_cast<std::size_t>(execution.attributes.integer(Attr::axis));
  Array to = Array::zeros(execution.out_shape(0));
  std::int64_t start = 0;
  for (std::size_t part = 0; part < execution.inputs.size(); ++part) {
    const Array& from = execution.in(part);
    std::size_t at = 0;
    for (IndexCounter i(from.shape); i.more(); i.next()) {
      Shape target = i.index();
      target[axis] += start;
      to.values[static_cast<std::size_t>(offset(to.shape, target))] = from.values[at++];
    }
    start += from.shape[axis];
  }
  return to;
}

}  // namespace

Expected<std::vector<Array>> execute_view(const Execution& execution) {
  if (execution.op == Op::Split) return split(execution);
  if (!execution.wants(0)) return std::vector<Array>(execution.output_types.size());
  switch (execution.op) {
    case Op::Transpose: return std::vector{transpose(execution)};
    case Op::Slice: return std::vector{slice(execution)};
    case Op::Concat: return std::vector{concat(execution)};
    case Op::Expand: return std::vector{expand(execution)};
    case Op::DepthToSpace: return std::vector{depth_to_space(execution)};
    case Op::SpaceToDepth: return std::vector{space_to_depth(execution)};
    default: return std::vector{Array{execution.out_shape(0), execution.in(0).values}};  // Identity, Reshape
  }
}

}  // namespace monet
