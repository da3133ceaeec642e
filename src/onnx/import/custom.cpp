// Operators of other domains that no rule knows. The file has to say what their outputs look like.
#include "graph/custom.h"
#include "onnx/importer.h"
#include "onnx/node_import.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace monet::onnx {

namespace {

const char* const add_types =
    "add the shape and element type of each of its outputs to value_info in the file, and its cost is yours to give; "
    "or export the model without it";

// Files keep reals in single precision: 0.1, not the double nearest to that.
double shortest(double value) {
  const std::string text = fmt::format("{}", static_cast<float>(value));
  double result = value;
  std::from_chars(text.data(), text.data() + text.size(), result);
  return result;
}

std::optional<AttributeValue> value_of(const RawAttribute& attribute) {
  switch (attribute.kind) {
    case RawAttribute::Kind::integer: return attribute.integer;
    case RawAttribute::Kind::real: return shortest(attribute.real);
    case RawAttribute::Kind::text: return std::string(attribute.text);
    case RawAttribute::Kind::integers: return attribute.integers;
    case RawAttribute::Kind::reals: {
      std::vector<double> values;
      for (double value : attribute.reals) values.push_back(shortest(value));
      return values;
    }
    default: return std::nullopt;
  }
}

}  // namespace

std::vector<std::pair<std::string, AttributeValue>> NodeImport::all_attributes() {
  std::vector<std::pair<std::string, AttributeValue>> result;
  for (std::size_t i = 0; i < raw_.attributes.size(); ++i) {
    const RawAttribute& attribute = raw_.attributes[i];
    attribute_read_[i] = true;
    if (auto value = value_of(attribute)) {
      result.emplace_back(std::string(attribute.name), *std::move(value));
    } else if (importer_.warnings.size() < Importer::most_warnings) {
      importer_.warnings.push_back(
          fmt::format("{}: the attribute '{}' is no number, text or list of numbers and is left out", place_of(raw_),
                      attribute.name));
    }
  }
  return result;
}

std::optional<std::int64_t> NodeImport::stated_size(std::size_t output, std::size_t axis) {
  const RawDimension& dimension = importer_.declared(raw_.outputs[output])->dims[axis];
  if (!dimension.has_value) {
    const auto bound = importer_.bindings_.symbols.find(std::string(dimension.symbol));
    if (!dimension.symbol.empty() && bound != importer_.bindings_.symbols.end()) return bound->second;
    fail(
        fmt::format("the custom operator {} has an output '{}' whose axis {} {}", op_type(), raw_.outputs[output], axis,
                    dimension.symbol.empty() ? "has no size in the file"
                                             : fmt::format("is '{}', a dimension that no input has", dimension.symbol)),
        "write the size, or the name of a dimension of an input, into value_info in the file");
    return std::nullopt;
  }
  // A batch that is written in follows the inputs.
  const BatchCorrection* batch = importer_.correction_;
  if (axis > 0 || batch == nullptr || dimension.value != batch->from) return dimension.value;
  for (std::size_t i = 0; i < input_count(); ++i) {
    if (!has_input(i) || is_initializer(i)) continue;
    const Shape own = shape(i);
    if (!own.empty() && own.front() == batch->to) return batch->to;
  }
  return dimension.value;
}

TensorType NodeImport::stated_type(std::size_t output) {
  const Text name = raw_.outputs[output];
  const RawValue* stated = importer_.declared(name);
  const auto element = stated != nullptr && stated->is_tensor ? element_type_of(stated->data_type) : std::nullopt;
  if (!element || !stated->has_shape) {
    fail(fmt::format("operator '{}' of domain '{}', operator set {} is not known, and the file does not say {} of its "
                     "output '{}'",
                     op_type(), domain(), version(), element ? "the shape" : "the shape and element type", name),
         add_types);
    return {};
  }
  TensorType type{.shape = {}, .format = {.element = *element}};
  for (std::size_t axis = 0; axis < stated->dims.size() && !failed(); ++axis) {
    type.shape.push_back(stated_size(output, axis).value_or(0));
    if (type.shape.back() != 0 || failed()) continue;
    fail(fmt::format("the custom operator {} has an output '{}' whose axis {} has size 0", op_type(), name, axis),
         "a custom operator has to make something: leave the output out, or correct its size in the file");
  }
  return type;
}

void import_custom(NodeImport& node) {
  CustomOperator custom{.domain = std::string(node.domain()),
                        .type = std::string(node.op_type()),
                        .attributes = node.all_attributes(),
                        .outputs = {}};
  const TensorType nothing{.shape = {0}, .format = {}};
  for (std::size_t i = 0; i < node.output_count() && !node.failed(); ++i) {
    custom.outputs.push_back(node.has_output(i) ? node.stated_type(i) : nothing);
  }
  node.emit(Op::Custom, node.inputs(), custom_attributes(custom));
}

}  // namespace monet::onnx
