#include "graph/infer.h"

#include <fmt/format.h>

namespace monet {

namespace {

Expected<Types> infer_from_shape(const OperatorTypes& operation) {
  const Shape& shape = operation.attributes.integers(Attr::shape);
  const bool fits =
      (operation.op != Op::Range || shape.size() == 1) && (operation.op != Op::EyeLike || shape.size() == 2);
  if (!fits) {
    return shape_error(fmt::format("{} cannot give a tensor of {}: it has {}", name_of(operation.op), to_string(shape),
                                   operation.op == Op::Range ? "one axis" : "two axes"));
  }
  const auto format = target_format(operation);
  if (!format) return format.error();
  return Types{{shape, *format}};
}

Expected<Types> infer_dropout_gradient(const OperatorTypes& operation) {
  if (operation.shape(0) != operation.shape(1)) {
    return shape_error(fmt::format("DropoutGrad has a gradient of {} and a mask of {}", to_string(operation.shape(0)),
                                   to_string(operation.shape(1))));
  }
  if (operation.format(1).element != ElementType::boolean) {
    return shape_error(fmt::format("the mask of DropoutGrad is {}, not boolean", name_of(operation.format(1).element)));
  }
  return Types{*operation.inputs[0]};
}

}  // namespace

Expected<Types> infer_generate(const OperatorTypes& operation) {
  if (operation.op == Op::Dropout || operation.op == Op::DropoutGrad) {
    const double ratio = operation.attributes.real(Attr::ratio);
    if (!(ratio >= 0 && ratio < 1)) {
      return shape_error(fmt::format("{} has the ratio {}", name_of(operation.op), ratio),
                         "choose at least 0 and less than 1");
    }
    if (operation.op == Op::DropoutGrad) return infer_dropout_gradient(operation);
    return Types{*operation.inputs[0], {operation.shape(0), {.element = ElementType::boolean}}};
  }
  if (operation.op == Op::Bernoulli) {
    const auto format = target_format(operation);
    if (!format) return format.error();
    return Types{{operation.shape(0), *format}};
  }
  return infer_from_shape(operation);
}

}  // namespace monet
