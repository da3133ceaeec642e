#include "graph/infer.h"

#include "base/try.h"
#include "graph/optimizer_layout.h"

#include <fmt/format.h>

namespace monet {

namespace {

Error wrong(const OperatorTypes& operation, std::string_view what, std::size_t input) {
  return shape_error(fmt::format("{} has {} of {} for a parameter of {}", name_of(operation.op), what,
                                 to_string(operation.shape(input)), to_string(operation.shape(0))));
}

// Elements that share a scale; 1 where nothing is shared.
Expected<std::int64_t> block_size(const OperatorTypes& operation) {
  if (operation.op != Op::Adam8bitUpdate) return std::int64_t{1};
  const std::int64_t size = operation.attributes.integer(Attr::size);
  if (size > 0 && size <= max_elements) return size;
  return shape_error(fmt::format("{} has blocks of {} elements", name_of(operation.op), size));
}

Status check_states(const OperatorTypes& operation) {
  MONET_TRY(const std::int64_t block, block_size(operation));
  const std::vector<TensorType> states = optimizer_states(operation.op, *operation.inputs[0], block);
  for (std::size_t i = 0; i < states.size(); ++i) {
    if (operation.shape(2 + i) != states[i].shape) return wrong(operation, "a state", 2 + i);
    const bool codes = states[i].format.element == ElementType::uint8;
    if (codes && operation.format(2 + i) != states[i].format) {
      return shape_error(fmt::format("{} has codes of type {}, and needs uint8", name_of(operation.op),
                                     name_of(operation.format(2 + i).element)));
    }
  }
  return Done{};
}

}  // namespace

// The new parameter and state look like the old ones. The gradient may have another precision.
Expected<Types> infer_optimizer(const OperatorTypes& operation) {
  const OptimizerLayout layout = optimizer_layout(operation.op);
  if (operation.shape(1) != operation.shape(0)) return wrong(operation, "a gradient", 1);
  if (operation.op == Op::AdafactorUpdate && operation.shape(0).size() < 2) {
    return shape_error(fmt::format("{} needs two axes, and its parameter is {}", name_of(operation.op),
                                   to_string(operation.shape(0))));
  }
  MONET_RETURN_IF_ERROR(check_states(operation));
  for (std::size_t i = layout.scalar(0); i < operation.inputs.size(); ++i) {
    if (operation.has(i) && !operation.shape(i).empty()) {
      return shape_error(fmt::format("{} has {} where a scalar is due, as input {}", name_of(operation.op),
                                     to_string(operation.shape(i)), i + 1));
    }
  }
  Types types = {*operation.inputs[0]};
  for (std::size_t i = 0; i < layout.states; ++i) types.push_back(*operation.inputs[2 + i]);
  return types;
}

}  // namespace monet
