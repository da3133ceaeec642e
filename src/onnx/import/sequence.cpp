#include "onnx/node_import.h"

#include "base/checked.h"

#include <fmt/format.h>

#include <array>

namespace monet::onnx {

namespace {

constexpr std::int64_t max_elements_of_sequence = 65536;

// The sequence of an input; empty after the node has failed.
std::vector<TensorId> elements_of(NodeImport& node, std::size_t input) {
  const auto* elements = node.sequence(input);
  return elements == nullptr ? std::vector<TensorId>() : *elements;
}

// A position among `count` ones, negative ones from the end; fails the node when it is outside.
std::size_t position_in(NodeImport& node, std::int64_t written, std::size_t count) {
  const auto position = normalized_axis(written, count);
  if (!position) {
    node.fail(fmt::format("{} names position {} of {}", node.op_type(), written, count));
    return 0;
  }
  return static_cast<std::size_t>(*position);
}

// Sizes of the parts: as written, or pieces of one size of which the last may be smaller.
std::vector<std::int64_t> part_sizes(NodeImport& node, std::int64_t size) {
  if (node.has_input(1) && node.rank(1) == 1) return node.required_integers(1);
  const std::int64_t each = node.has_input(1) ? node.required_integer(1) : 1;
  if (node.failed()) return {};
  if (each < 1 || ceil_divide(size, each) > max_elements_of_sequence) {
    node.fail(fmt::format("SplitToSequence cannot cut an axis of {} into pieces of {}", size, each));
    return {};
  }
  std::vector<std::int64_t> sizes;
  for (std::int64_t start = 0; start < size; start += each) sizes.push_back(std::min(each, size - start));
  return sizes;
}

void split_to_sequence(NodeImport& node) {
  const Shape from = node.shape(0);
  const std::int64_t axis = node.axis(node.integer("axis", 0), from.size());
  const bool keeps_axis = node.integer("keepdims", 1) != 0 || node.has_input(1);
  if (node.failed()) return;
  const auto sizes = part_sizes(node, from[static_cast<std::size_t>(axis)]);
  if (node.failed()) return;
  if (sizes.empty()) return node.set_sequence(0, {});
  auto parts = node.make_many(Op::Split, {node.input(0)}, {{Attr::axis, axis}, {Attr::split, sizes}}, sizes.size());
  if (node.failed()) return;
  if (!keeps_axis) {
    Shape without = from;
    without.erase(without.begin() + axis);
    for (TensorId& part : parts) part = node.make(Op::Reshape, {part}, {{Attr::shape, without}});
  }
  node.set_sequence(0, std::move(parts));
}

void sequence_at(NodeImport& node) {
  const auto elements = elements_of(node, 0);
  const std::int64_t written = node.required_integer(1);
  if (node.failed()) return;
  const std::size_t position = position_in(node, written, elements.size());
  if (!node.failed()) node.alias(0, elements[position]);
}

void sequence_construct(NodeImport& node) { node.set_sequence(0, node.inputs()); }

void sequence_empty(NodeImport& node) {
  node.ignore({"dtype"});
  node.set_sequence(0, {});
}

void sequence_insert(NodeImport& node) {
  auto elements = elements_of(node, 0);
  if (node.failed()) return;
  std::size_t position = elements.size();
  // One place more than there are elements: behind the last.
  if (node.has_input(2)) {
    const std::int64_t written = node.required_integer(2);
    if (node.failed()) return;
    const auto count = static_cast<std::int64_t>(elements.size());
    if (written < -count || written > count) {
      return node.fail(fmt::format("SequenceInsert names position {} of {}", written, count));
    }
    position = static_cast<std::size_t>(written < 0 ? written + count : written);
  }
  elements.insert(elements.begin() + static_cast<std::ptrdiff_t>(position), node.input(1));
  node.set_sequence(0, std::move(elements));
}

void sequence_erase(NodeImport& node) {
  auto elements = elements_of(node, 0);
  const std::int64_t written = node.has_input(1) ? node.required_integer(1) : -1;
  if (node.failed()) return;
  const std::size_t position = position_in(node, written, elements.size());
  if (node.failed()) return;
  elements.erase(elements.begin() + static_cast<std::ptrdiff_t>(position));
  node.set_sequence(0, std::move(elements));
}

void sequence_length(NodeImport& node) {
  const auto elements = elements_of(node, 0);
  if (node.failed()) return;
  node.set_constant(0, Constant::integers(ElementType::int64, {}, {static_cast<std::int64_t>(elements.size())}));
}

void concat_from_sequence(NodeImport& node) {
  auto elements = elements_of(node, 0);
  if (node.failed()) return;
  if (elements.empty()) return node.fail("ConcatFromSequence has nothing to join");
  const bool adds_axis = node.integer("new_axis", 0) != 0;
  const std::size_t rank = node.shape_of(elements[0]).size() + (adds_axis ? 1 : 0);
  const std::int64_t axis = node.axis(node.integer("axis", 0), rank);
  if (node.failed()) return;
  if (adds_axis) {
    for (TensorId& element : elements) {
      Shape shape = node.shape_of(element);
      if (shape.size() + 1 != rank) return node.fail("ConcatFromSequence stacks tensors of different ranks");
      shape.insert(shape.begin() + axis, 1);
      element = node.make(Op::Reshape, {element}, {{Attr::shape, std::move(shape)}});
    }
  }
  node.emit(Op::Concat, std::move(elements), {{Attr::axis, axis}});
}

constexpr std::array sequence_entries = {
    ImportEntry{"", "ConcatFromSequence", concat_from_sequence},
    ImportEntry{"", "SequenceAt", sequence_at},
    ImportEntry{"", "SequenceConstruct", sequence_construct},
    ImportEntry{"", "SequenceEmpty", sequence_empty},
    ImportEntry{"", "SequenceErase", sequence_erase},
    ImportEntry{"", "SequenceInsert", sequence_insert},
    ImportEntry{"", "SequenceLength", sequence_length},
    ImportEntry{"", "SplitToSequence", split_to_sequence},
};

}  // namespace

std::span<const ImportEntry> sequence_rules() { return sequence_entries; }

}  // namespace monet::onnx
