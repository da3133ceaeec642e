#include "graph/custom.h"

#include <fmt/format.h>

namespace monet {

Expected<Types> infer_custom(const OperatorTypes& operation) {
  auto types = custom_outputs(operation.attributes);
  if (types && (types->empty() || types->size() > max_operands)) {
    return shape_error(fmt::format("{} has {} outputs", operation.attributes.text(Attr::op_type), types->size()),
                       fmt::format("1 to {} are read", max_operands));
  }
  return types;
}

}  // namespace monet
