#include "evaluate/check/storage_element.h"

#include <algorithm>

namespace monet::check {

std::int64_t row_major(const Shape& shape, const Shape& index) {
  std::int64_t position = 0;
  for (std::size_t i = 0; i < shape.size(); ++i) position = position * shape[i] + index[i];
  return position;
}

void ViewWalker::to_storage(Element& element) {
  while (true) {
    const NodeId producer = graph_[element.tensor].producer;
    if (!producer.valid() || family_of(graph_[producer].op) != OpFamily::view) return;
    step(graph_[producer], element);
  }
}

void ViewWalker::step(const Node& view, Element& element) {
  const TensorId from = view.inputs.front();
  const Shape& shape = graph_[from].type.shape;
  const auto axis_of = [&] { return static_cast<std::size_t>(view.attributes.integer(Attr::axis)); };
  Shape& index = element.index;
  switch (view.op) {
    case Op::Reshape: {
      std::int64_t position = row_major(graph_[element.tensor].type.shape, index);
      index.resize(shape.size());
      for (std::size_t i = shape.size(); i-- > 0; position /= shape[i]) index[i] = position % shape[i];
      break;
    }
    case Op::Transpose: {
      const auto& order = view.attributes.integers(Attr::perm);
      other_.resize(index.size());
      for (std::size_t i = 0; i < index.size(); ++i) other_[static_cast<std::size_t>(order[i])] = index[i];
      index.swap(other_);
      break;
    }
    case Op::Slice: {
      const auto& axes = view.attributes.integers(Attr::axes);
      const auto& starts = view.attributes.integers(Attr::starts);
      const auto& steps = view.attributes.integers(Attr::steps);
      for (std::size_t i = 0; i < axes.size(); ++i) {
        std::int64_t& position = index[static_cast<std::size_t>(axes[i])];
        position = starts[i] + position * steps[i];
      }
      break;
    }
    case Op::Split: {
      const auto& sizes = view.attributes.integers(Attr::split);
      for (std::size_t i = 0; view.outputs[i] != element.tensor; ++i) index[axis_of()] += sizes[i];
      break;
    }
    case Op::Concat: {
      std::int64_t& position = index[axis_of()];
      std::size_t part = 0;
      while (position >= graph_[view.inputs[part]].type.shape[axis_of()]) {
        position -= graph_[view.inputs[part++]].type.shape[axis_of()];
      }
      element.tensor = view.inputs[part];
      return;
    }
    case Op::Expand: {
      index.erase(index.begin(), index.end() - static_cast<std::ptrdiff_t>(shape.size()));
      for (std::size_t i = 0; i < shape.size(); ++i) index[i] = std::min(index[i], shape[i] - 1);
      break;
    }
    case Op::DepthToSpace: {
      const std::int64_t block = view.attributes.integer(Attr::blocksize);
      const std::int64_t channels = shape[1] / (block * block);
      const std::int64_t inside = index[2] % block * block + index[3] % block;
      index[1] =
          view.attributes.text(Attr::mode) == "DCR" ? inside * channels + index[1] : index[1] * block * block + inside;
      index[2] /= block;
      index[3] /= block;
      break;
    }
    case Op::SpaceToDepth: {
      const std::int64_t block = view.attributes.integer(Attr::blocksize);
      const std::int64_t inside = index[1] / shape[1];
      index[1] %= shape[1];
      index[2] = index[2] * block + inside / block;
      index[3] = index[3] * block + inside % block;
      break;
    }
    default: break;  // Identity
  }
  element.tensor = from;
}

}  // namespace monet::check
