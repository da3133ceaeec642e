#include "onnx/node_import.h"

#include "graph/fold.h"
#include "graph/infer.h"
#include "onnx/importer.h"

#include <fmt/format.h>

#include <algorithm>

namespace monet::onnx {

NodeImport::NodeImport(Importer& importer, const RawNode& raw, std::int64_t version)
    : importer_(importer), raw_(raw), version_(version), attribute_read_(raw.attributes.size(), false) {}

bool NodeImport::has_input(std::size_t i) const { return i < raw_.inputs.size() && !raw_.inputs[i].empty(); }

bool NodeImport::is_initializer(std::size_t i) const {
  const auto* found = has_input(i) ? importer_.find(raw_.inputs[i]) : nullptr;
  return found != nullptr && found->initializer != nullptr;
}

void NodeImport::fail(std::string message, std::string advice) {
  if (!error_) error_ = Error{.message = std::move(message), .place = {}, .advice = std::move(advice)};
}

TensorId NodeImport::input(std::size_t i) {
  if (!has_input(i)) return {};
  auto id = importer_.tensor_of(raw_.inputs[i]);
  if (id) return *id;
  fail(id.error().message, id.error().advice);
  return {};
}

std::vector<TensorId> NodeImport::inputs() {
  std::vector<TensorId> ids;
  for (std::size_t i = 0; i < input_count(); ++i) ids.push_back(input(i));
  return ids;
}

namespace {

const TensorType scalar_type{};

}  // namespace

TensorType NodeImport::input_type(std::size_t i) {
  // A known value needs no tensor to have a type.
  if (has_input(i)) {
    const auto* found = importer_.find(raw_.inputs[i]);
    if (found != nullptr && found->constant) return {found->constant->shape, {.element = found->constant->type}};
  }
  const TensorId id = input(i);
  if (!id.valid()) fail(fmt::format("needs input {}, which is missing", i + 1));
  return id.valid() ? importer_.graph_[id].type : scalar_type;
}

Shape NodeImport::shape(std::size_t i) { return input_type(i).shape; }

ElementType NodeImport::type(std::size_t i) { return input_type(i).format.element; }

std::optional<Shape> NodeImport::declared_shape(std::size_t output) {
  return has_output(output) ? importer_.declared_shape(raw_.outputs[output]) : std::nullopt;
}

const Constant* NodeImport::value(std::size_t i) {
  if (!has_input(i)) return nullptr;
  auto* found = importer_.find(raw_.inputs[i]);
  return found == nullptr ? nullptr : importer_.constant_of(*found);
}

namespace {

template <class T, class Get>
std::vector<T> all(const Constant& constant, Get get) {
  std::vector<T> values;
  const std::int64_t count = element_count(constant.shape);
  if (count > most_constant_elements) return values;
  values.reserve(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) values.push_back(get(i));
  return values;
}

}  // namespace

std::vector<std::int64_t> NodeImport::required_integers(std::size_t i) {
  if (i == 1 && importer_.corrected_target_) return *importer_.corrected_target_;
  const Constant* constant = value(i);
  if (constant == nullptr || is_floating(constant->type) || element_count(constant->shape) > most_constant_elements) {
    if (const auto* found = has_input(i) ? importer_.find(raw_.inputs[i]) : nullptr;
        found != nullptr && found->initializer != nullptr) {
      const auto decoded = decode_values(*found->initializer, importer_.folder_);
      if (!decoded) fail(decoded.error().message, decoded.error().advice);
    }
    fail(has_input(i) ? fmt::format("its input '{}' decides a shape and depends on data", raw_.inputs[i])
                      : fmt::format("needs input {}, which is missing", i + 1),
         "export the model with fixed shapes, or bind its dimensions with --dim");
    return {};
  }
  return all<std::int64_t>(*constant, [&](std::int64_t k) { return constant->integer_at(k); });
}

std::int64_t NodeImport::required_integer(std::size_t i) {
  const auto values = required_integers(i);
  if (values.size() != 1) fail(fmt::format("needs a single number as input {}", i + 1));
  return values.size() == 1 ? values.front() : 0;
}

std::vector<double> NodeImport::required_reals(std::size_t i) {
  const Constant* constant = value(i);
  if (constant == nullptr || element_count(constant->shape) > most_constant_elements) {
    fail(has_input(i) ? fmt::format("its input '{}' must be a constant and depends on data", raw_.inputs[i])
                      : fmt::format("needs input {}, which is missing", i + 1),
         "export the model with this value fixed");
    return {};
  }
  return all<double>(*constant, [&](std::int64_t k) { return constant->real_at(k); });
}

double NodeImport::required_real(std::size_t i) {
  const auto values = required_reals(i);
  if (values.size() != 1) fail(fmt::format("needs a single number as input {}", i + 1));
  return values.size() == 1 ? values.front() : 0;
}

const RawAttribute* NodeImport::find(std::string_view name, RawAttribute::Kind kind) {
  for (std::size_t i = 0; i < raw_.attributes.size(); ++i) {
    const RawAttribute& attribute = raw_.attributes[i];
    if (attribute.name != name) continue;
    attribute_read_[i] = true;
    if (attribute.kind == kind) return &attribute;
    fail(fmt::format("its attribute '{}' has the wrong type", name), "the file is damaged; export it again");
    return nullptr;
  }
  return nullptr;
}

bool NodeImport::has_attribute(std::string_view name) {
  return std::ranges::any_of(raw_.attributes, [name](const RawAttribute& attribute) { return attribute.name == name; });
}

std::int64_t NodeImport::integer(std::string_view name, std::int64_t otherwise) {
  const auto* found = find(name, RawAttribute::Kind::integer);
  return found != nullptr ? found->integer : otherwise;
}

double NodeImport::real(std::string_view name, double otherwise) {
  const auto* found = find(name, RawAttribute::Kind::real);
  return found != nullptr ? found->real : otherwise;
}

std::string NodeImport::text(std::string_view name, std::string_view otherwise) {
  const auto* found = find(name, RawAttribute::Kind::text);
  return std::string(found != nullptr ? found->text : otherwise);
}

std::vector<std::int64_t> NodeImport::integers(std::string_view name, const std::vector<std::int64_t>& otherwise) {
  const auto* found = find(name, RawAttribute::Kind::integers);
  return found != nullptr ? found->integers : otherwise;
}

std::vector<double> NodeImport::reals(std::string_view name, const std::vector<double>& otherwise) {
  const auto* found = find(name, RawAttribute::Kind::reals);
  return found != nullptr ? found->reals : otherwise;
}

std::optional<Constant> NodeImport::tensor(std::string_view name) {
  const auto* found = find(name, RawAttribute::Kind::tensor);
  if (found == nullptr) return std::nullopt;
  auto values = decode_values(found->tensors.front(), importer_.folder_);
  if (!values) {
    fail(values.error().message, values.error().advice);
    return std::nullopt;
  }
  if (!*values) fail(fmt::format("its attribute '{}' is a tensor whose values cannot be read", name));
  return *values;
}

void NodeImport::ignore(std::initializer_list<std::string_view> names) {
  for (std::size_t i = 0; i < raw_.attributes.size(); ++i) {
    if (std::ranges::find(names, raw_.attributes[i].name) != names.end()) attribute_read_[i] = true;
  }
}

std::int64_t NodeImport::axis(std::int64_t value, std::size_t rank) {
  const auto normal = normalized_axis(value, rank);
  if (!normal) fail(fmt::format("its axis {} is outside a tensor of {} axes", value, rank));
  return normal.value_or(0);
}

std::vector<std::int64_t> NodeImport::axes(std::vector<std::int64_t> values, std::size_t rank) {
  for (std::int64_t& value : values) value = axis(value, rank);
  std::ranges::sort(values);
  if (std::ranges::adjacent_find(values) != values.end()) fail("it names an axis twice");
  values.erase(std::ranges::unique(values).begin(), values.end());
  return values;
}

namespace {

std::string base_name(const RawNode& raw) {
  if (!raw.name.empty()) return std::string(raw.name);
  for (Text output : raw.outputs) {
    if (!output.empty()) return std::string(output);
  }
  return std::string(raw.op_type);
}

}  // namespace

std::optional<std::vector<TensorType>> NodeImport::inferred(Op op, const std::vector<TensorId>& inputs,
                                                            const Attributes& attributes) {
  if (failed()) return std::nullopt;
  std::vector<const TensorType*> types;
  for (TensorId id : inputs) types.push_back(id.valid() ? &importer_.graph_[id].type : nullptr);
  auto outputs = infer({.op = op, .attributes = attributes, .inputs = types});
  if (!outputs) {
    fail(outputs.error().message, outputs.error().advice);
    return std::nullopt;
  }
  return *std::move(outputs);
}

std::optional<std::vector<Constant>> NodeImport::folded(Op op, const std::vector<TensorId>& inputs,
                                                        const Attributes& attributes,
                                                        const std::vector<TensorType>& types) {
  std::vector<const Constant*> values;
  for (TensorId id : inputs) {
    // Only leading optional inputs that are there; an absent one in between ends folding.
    const Constant* value = importer_.foldable(id);
    if (value == nullptr) return std::nullopt;
    values.push_back(value);
  }
  if (importer_.fold_budget_ <= 0) return std::nullopt;
  auto results = fold(op, attributes, values, types);
  if (results) {
    for (const Constant& result : *results) {
      importer_.fold_budget_ -=
          std::visit([](const auto& cells) { return static_cast<std::int64_t>(cells.size()); }, result.values);
    }
  }
  return results;
}

void NodeImport::emit(Op op, std::vector<TensorId> inputs, Attributes attributes) {
  std::size_t wanted = raw_.outputs.size();
  while (wanted > 0 && !has_output(wanted - 1)) --wanted;
  auto types = inferred(op, inputs, attributes);
  if (!types || wanted == 0) return;
  if (wanted > types->size()) return fail(fmt::format("has {} outputs, and {} are known", wanted, types->size()));
  if (auto values = folded(op, inputs, attributes, *types); values && values->size() >= wanted) {
    for (std::size_t i = 0; i < wanted; ++i) set_constant(i, std::move((*values)[i]));
    return;
  }
  Node node{.name = importer_.unique_node_name(base_name(raw_)),
            .op = op,
            .phase = Phase::forward,
            .attributes = std::move(attributes),
            .inputs = std::move(inputs),
            .outputs = {}};
  for (std::size_t i = 0; i < wanted; ++i) {
    // The first output is what an operator computes: it exists even if the file has no name for it.
    if (!has_output(i) && i > 0) {
      node.outputs.emplace_back();
      continue;
    }
    const std::string name = has_output(i) ? std::string(raw_.outputs[i]) : node.name + "/result";
    const TensorId id = importer_.add_tensor(name, std::move((*types)[i]), Role::activation);
    if (has_output(i)) importer_.define(raw_.outputs[i]).tensor = id;
    node.outputs.push_back(id);
  }
  importer_.graph_.add_node(std::move(node));
}

TensorId NodeImport::make(Op op, std::vector<TensorId> inputs, Attributes attributes) {
  const auto outputs = make_many(op, std::move(inputs), std::move(attributes), 1);
  return outputs.empty() ? TensorId() : outputs.front();
}

std::vector<TensorId> NodeImport::make_many(Op op, std::vector<TensorId> inputs, Attributes attributes,
                                            std::size_t wanted) {
  auto types = inferred(op, inputs, attributes);
  if (!types || types->size() < wanted) return std::vector<TensorId>(wanted);
  if (auto values = folded(op, inputs, attributes, *types); values && values->size() >= wanted) {
    std::vector<TensorId> constants;
    for (std::size_t i = 0; i < wanted; ++i) constants.push_back(make_constant(std::move((*values)[i])));
    return constants;
  }
  Graph& graph = importer_.graph_;
  const std::string name = importer_.unique_node_name(fmt::format("{}/{}", base_name(raw_), name_of(op)));
  Node node{.name = name,
            .op = op,
            .phase = Phase::forward,
            .attributes = std::move(attributes),
            .inputs = std::move(inputs),
            .outputs = {}};
  for (std::size_t i = 0; i < wanted; ++i) {
    node.outputs.push_back(
        importer_.add_tensor(fmt::format("{}.{}", name, i), std::move((*types)[i]), Role::activation));
  }
  std::vector<TensorId> outputs = node.outputs;
  graph.add_node(std::move(node));
  return outputs;
}

void NodeImport::alias(std::size_t output, TensorId id) {
  if (!has_output(output) || !id.valid() || failed()) return;
  importer_.define(raw_.outputs[output]).tensor = id;
}

void NodeImport::set_constant(std::size_t output, Constant value) {
  if (!has_output(output) || failed()) return;
  importer_.define(raw_.outputs[output]).constant = std::move(value);
}

TensorId NodeImport::make_constant(Constant value) {
  if (failed()) return {};
  Graph& graph = importer_.graph_;
  const TensorId id =
      importer_.add_tensor(base_name(raw_) + "/constant", {value.shape, {.element = value.type}}, Role::constant);
  graph.constants.emplace(id, std::move(value));
  return id;
}

void NodeImport::bind_literal(std::size_t output, std::string_view attribute) {
  const auto* found = find(attribute, RawAttribute::Kind::tensor);
  if (found == nullptr || !has_output(output) || failed()) return;
  const RawTensor& raw = found->tensors.front();
  auto values = decode_values(raw, importer_.folder_);
  if (!values) return fail(values.error().message, values.error().advice);
  if (*values) return set_constant(output, *std::move(*values));
  const auto type = element_type_of(raw.data_type);
  if (!type) return fail(fmt::format("its value has ONNX element type {}, which is not read", raw.data_type));
  if (!check_shape(raw.dims)) return;
  importer_.define(raw_.outputs[output]).tensor =
      importer_.add_tensor(std::string(raw_.outputs[output]), {raw.dims, {.element = *type}}, Role::constant);
}

bool NodeImport::check_shape(const Shape& shape) {
  const std::string reason = impossible_shape(shape);
  if (!reason.empty()) fail(fmt::format("makes a tensor of {}, which is impossible: {}", to_string(shape), reason));
  return reason.empty();
}

Shape NodeImport::shape_of(TensorId id) { return id.valid() ? importer_.graph_[id].type.shape : scalar_type.shape; }

ElementType NodeImport::type_of(TensorId id) {
  return id.valid() ? importer_.graph_[id].type.format.element : ElementType::float32;
}

const std::vector<TensorId>* NodeImport::sequence(std::size_t i) {
  const auto* found = has_input(i) ? importer_.find(raw_.inputs[i]) : nullptr;
  if (found == nullptr || !found->is_sequence) {
    fail(fmt::format("needs a sequence of tensors as input {}", i + 1));
    return nullptr;
  }
  return &found->sequence;
}

void NodeImport::set_sequence(std::size_t output, std::vector<TensorId> elements) {
  if (!has_output(output) || failed()) return;
  constexpr std::size_t most_elements = std::size_t{1} << 24;
  importer_.sequence_elements_ += elements.size();
  if (importer_.sequence_elements_ > most_elements)
    return fail(fmt::format("the model's sequences have more than {} elements together", most_elements));
  auto& value = importer_.define(raw_.outputs[output]);
  value.is_sequence = true;
  value.sequence = std::move(elements);
}

}  // namespace monet::onnx
