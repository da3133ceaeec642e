#include "onnx/node_import.h"

#include <algorithm>
#include <array>

namespace monet::onnx {

namespace {

void constant(NodeImport& node) {
  if (node.has_attribute("value")) {
    node.bind_literal(0, "value");
  } else if (node.has_attribute("value_int")) {
    node.set_constant(0, Constant::integers(ElementType::int64, {}, {node.integer("value_int", 0)}));
  } else if (node.has_attribute("value_float")) {
    node.set_constant(0, Constant::reals(ElementType::float32, {}, {node.real("value_float", 0)}));
  } else if (node.has_attribute("value_ints")) {
    auto values = node.integers("value_ints");
    const auto count = static_cast<std::int64_t>(values.size());
    node.set_constant(0, Constant::integers(ElementType::int64, {count}, std::move(values)));
  } else if (node.has_attribute("value_floats")) {
    auto values = node.reals("value_floats");
    const auto count = static_cast<std::int64_t>(values.size());
    node.set_constant(0, Constant::reals(ElementType::float32, {count}, std::move(values)));
  } else {
    node.fail("has no value that is read", "strings and sparse tensors are not read");
  }
}

void shape(NodeImport& node) {
  const Shape full = node.shape(0);
  const auto rank = static_cast<std::int64_t>(full.size());
  const auto bounded = [rank](std::int64_t at) { return std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank); };
  const std::int64_t start = bounded(node.integer("start", 0));
  const std::int64_t end = std::max(start, bounded(node.integer("end", rank)));
  node.set_constant(
      0, Constant::integers(ElementType::int64, {end - start}, Shape(full.begin() + start, full.begin() + end)));
}

void size(NodeImport& node) {
  node.set_constant(0, Constant::integers(ElementType::int64, {}, {element_count(node.shape(0))}));
}

// A fill of any size is kept as one value.
void constant_of_shape(NodeImport& node) {
  TensorType type{node.required_integers(0), {.element = ElementType::float32}};
  Constant fill = Constant::reals(ElementType::float32, {1}, {0.0});
  if (node.has_attribute("value")) {
    const auto value = node.tensor("value");
    if (!value || element_count(value->shape) != 1) {
      node.fail("its value must be a single number");
      return;
    }
    fill = *value;
  }
  if (!node.check_shape(type.shape)) return;
  fill.pattern = Constant::Pattern::uniform;
  fill.shape = std::move(type.shape);
  node.set_constant(0, std::move(fill));
}

constexpr std::array constant_entries = {
    ImportEntry{"", "Constant", constant},
    ImportEntry{"", "ConstantOfShape", constant_of_shape},
    ImportEntry{"", "Shape", shape},
    ImportEntry{"", "Size", size},
};

}  // namespace

std::span<const ImportEntry> constant_rules() { return constant_entries; }

}  // namespace monet::onnx
