#include "onnx/importer.h"

#include "base/suggest.h"
#include "base/try.h"
#include "graph/infer.h"
#include "onnx/own_notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace monet::onnx {

namespace {

constexpr std::int64_t most_known_reals = 64;
constexpr std::size_t most_tensors = 1'000'000;

Error import_error(std::string message, std::string place, std::string advice = {}) {
  return {.message = std::move(message), .place = std::move(place), .advice = std::move(advice)};
}

Status check_sizes(const Shape& shape, const std::string& what) {
  if (const std::string reason = impossible_shape(shape); !reason.empty()) {
    return import_error(fmt::format("{} of {} is impossible: {}", what, to_string(shape), reason), {},
                        "choose smaller, positive dimensions, or export it again");
  }
  return Done{};
}

std::vector<ImportEntry> all_rules() {
  std::vector<ImportEntry> rules;
  for (const auto& family : {constant_rules(), elementwise_rules(), contraction_rules(), convolution_rules(),
                             pool_rules(), reduction_rules(), softmax_rules(), norm_rules(), view_rules(),
                             movement_rules(), generate_rules(), sequence_rules()}) {
    rules.insert(rules.end(), family.begin(), family.end());
  }
  return rules;
}

std::vector<std::string> known_operators(Text domain) {
  std::vector<std::string> names;
  for (const ImportEntry& entry : all_rules()) {
    if (entry.domain == domain) names.emplace_back(entry.op_type);
  }
  return names;
}

Error unknown_operator(const RawNode& node, std::int64_t version) {
  const std::string domain = node.domain.empty() ? "ai.onnx" : std::string(node.domain);
  const std::string what = fmt::format("operator '{}' of domain '{}', operator set {}", node.op_type, domain, version);
  static constexpr std::array<Text, 3> recurrent = {"LSTM", "GRU", "RNN"};
  if (node.domain.empty() && node.op_type == "Scan") {
    return import_error(what + " holds a graph of its own, and control flow is not read", place_of(node),
                        "export the model with its control flow unrolled");
  }
  if (node.domain.empty() && std::ranges::find(recurrent, node.op_type) != recurrent.end()) {
    return import_error(what + " is recurrent, and recurrent operators are not read", place_of(node),
                        "export the recurrence step by step, as matrix products");
  }
  const std::string guess = nearest(node.op_type, known_operators(node.domain));
  return import_error(what + " is not known", place_of(node),
                      (guess.empty() ? "" : fmt::format("did you mean '{}'? else ", guess)) +
                          "export the model without it, or as standard ONNX operators");
}

bool is_standard(Text domain) { return domain.empty() || domain.starts_with("ai.onnx"); }

}  // namespace

Importer::Importer(const FlatModel& model, std::string folder, const Bindings& bindings, BatchRecord* record,
                   const BatchCorrection* correction)
    : model_(model),
      signature_(signature_of(*model.raw)),
      folder_(std::move(folder)),
      bindings_(bindings),
      record_(record),
      correction_(correction) {
  for (const RawValue& output : model.raw->graph.outputs) output_names_.insert(output.name);
  const std::size_t values = model.nodes.size() * 2 + model.raw->graph.initializers.size();
  index_of_.reserve(values);
  tensor_names_.reserve(values);
  node_names_.reserve(model.nodes.size());
}

Importer::Value* Importer::find(Text name) {
  const auto found = index_of_.find(name);
  return found == index_of_.end() ? nullptr : &values_[found->second];
}

Importer::Value& Importer::define(Text name) {
  const auto [at, inserted] = index_of_.try_emplace(name, static_cast<std::uint32_t>(values_.size()));
  if (inserted) values_.emplace_back();
  return values_[at->second];
}

const Constant* Importer::constant_of(Value& value) {
  if (!value.constant && value.initializer != nullptr && !value.values_asked) {
    value.values_asked = true;
    // A small vector of reals may be a bias: its values are known, but it stays an initializer. Larger ones are
    // weights, which nobody looks at.
    const RawTensor& tensor = *value.initializer;
    const bool weight =
        is_floating(*element_type_of(tensor.data_type)) && element_count(tensor.dims) > most_known_reals;
    if (!weight) {
      if (auto decoded = decode_values(tensor, folder_); decoded && *decoded) value.constant = std::move(**decoded);
    }
  }
  return value.constant ? &*value.constant : nullptr;
}

const RawValue* Importer::declared(Text name) {
  if (declared_.empty()) {
    for (const RawValue& value : model_.raw->graph.inner_values) declared_.emplace(value.name, &value);
    for (const RawValue& value : model_.raw->graph.outputs) declared_.emplace(value.name, &value);
  }
  const auto found = declared_.find(name);
  return found == declared_.end() ? nullptr : found->second;
}

std::optional<Shape> Importer::declared_shape(Text name) {
  const RawValue* value = declared(name);
  if (value == nullptr || !value->has_shape) return std::nullopt;
  Shape shape;
  for (const RawDimension& dimension : value->dims) shape.push_back(dimension.has_value ? dimension.value : -1);
  return shape;
}

const Constant* Importer::foldable(TensorId id) const {
  const Constant* known = graph_.constant(id);
  if (known == nullptr) return nullptr;
  return initializers_.contains(id) && may_be_trained(graph_[id].name, *known) ? nullptr : known;
}

// A single real may be trained as well, but most are numbers of the formula.
bool Importer::may_be_trained(Text name, const Constant& value) const {
  return is_floating(value.type) &&
         (element_count(value.shape) != 1 || signature_.is_member(name) || bindings_.roles.names_parameter(name));
}

Expected<TensorId> Importer::tensor_of(Text name) {
  Value* value = find(name);
  if (value == nullptr) return import_error(fmt::format("its input '{}' was not made", name), {});
  if (value->is_sequence) return import_error(fmt::format("its input '{}' is a sequence, not a tensor", name), {});
  if (value->tensor.valid()) return value->tensor;
  if (value->initializer == nullptr && !value->constant)
    return import_error(fmt::format("its input '{}' was not made", name), {});
  TensorType type;
  if (value->initializer != nullptr) {
    type = {value->initializer->dims, {.element = *element_type_of(value->initializer->data_type)}};
  } else {
    type = {value->constant->shape, {.element = value->constant->type}};
  }
  value->tensor = add_tensor(std::string(name), std::move(type), Role::constant);
  if (value->initializer != nullptr) initializers_.insert(value->tensor);
  if (value->initializer == nullptr) {
    graph_.constants.emplace(value->tensor, *value->constant);
  } else if (const Constant* known = constant_of(*value);
             known != nullptr && !(is_floating(known->type) && signature_.is_member(name))) {
    graph_.constants.emplace(value->tensor, *known);
  }
  return value->tensor;
}

namespace {

// `name`, or with a number that makes it unique. The set remembers where to go on counting, so that a name used n times
// costs n steps, not n squared.
std::string unique(std::string name, std::unordered_map<std::string, std::size_t>& names) {
  const auto [at, inserted] = names.try_emplace(name, 1);
  if (inserted) return name;
  std::size_t& last = at->second;  // stays where it is when the table grows, as `at` does not
  while (true) {
    std::string candidate = fmt::format("{}#{}", name, ++last);
    if (names.try_emplace(candidate, 1).second) return candidate;
  }
}

}  // namespace

std::string Importer::unique_node_name(std::string name) { return unique(std::move(name), node_names_); }

TensorId Importer::add_tensor(std::string name, TensorType type, Role role) {
  return graph_.add_tensor({.name = unique(std::move(name), tensor_names_),
                            .type = std::move(type),
                            .role = role,
                            .producer = {},
                            .parameter = false,
                            .updates = {}});
}

Status Importer::add_initializers() {
  for (const RawTensor& tensor : model_.raw->graph.initializers) {
    const std::string what = fmt::format("the initializer '{}'", tensor.name);
    if (!element_type_of(tensor.data_type)) {
      return import_error(fmt::format("{} has ONNX element type {}, which is not read", what, tensor.data_type), {},
                          "strings and complex numbers are not read");
    }
    MONET_RETURN_IF_ERROR(check_sizes(tensor.dims, what));
    Value& value = define(tensor.name);
    value.initializer = &tensor;
    if (!has_own_notes(*model_.raw)) continue;
    // Weights are inputs in such a file: what is left are numbers of the formulas.
    if (auto decoded = decode_values(tensor, folder_); decoded && *decoded) {
      value.constant = std::move(**decoded);
      value.initializer = nullptr;
    }
  }
  return Done{};
}

Status Importer::add_inputs() {
  bool first = true;
  std::int64_t fixed_batch = -1;
  for (const RawValue& input : model_.raw->graph.inputs) {
    // Up to IR version 3 initializers are listed among the inputs.
    if (find(input.name) != nullptr) continue;
    const std::string what = fmt::format("the input '{}'", input.name);
    if (!input.is_tensor) {
      return import_error(
          fmt::format("{} is {}, not a tensor", what,
                      input.other_kind.empty() ? "without a type" : fmt::format("a {}", input.other_kind)),
          {}, "only tensors are read");
    }
    const auto type = element_type_of(input.data_type);
    if (!type)
      return import_error(fmt::format("{} has ONNX element type {}, which is not read", what, input.data_type), {},
                          "strings and complex numbers are not read");
    if (!input.has_shape)
      return import_error(fmt::format("{} has no shape", what), {}, "export the model with shapes for its inputs");
    Shape shape;
    for (std::size_t axis = 0; axis < input.dims.size(); ++axis) {
      const RawDimension& dimension = input.dims[axis];
      std::int64_t size = dimension.has_value ? dimension.value : 1;
      if (!dimension.has_value) {
        const std::string symbol =
            dimension.symbol.empty() ? fmt::format("{}:{}", input.name, axis) : std::string(dimension.symbol);
        if (const auto bound = bindings_.symbols.find(symbol); bound != bindings_.symbols.end()) size = bound->second;
      } else if (axis == 0 && bindings_.batch && (first || size == fixed_batch)) {
        fixed_batch = size;
        size = *bindings_.batch;
      }
      if (size <= 0) {
        return import_error(
            fmt::format("{} has size {} on axis {}", what, size, axis), {},
            "every axis of an input needs at least one element; give --dim or --batch, or export it again");
      }
      shape.push_back(size);
    }
    first = first && shape.empty();  // a single number has no batch
    MONET_RETURN_IF_ERROR(check_sizes(shape, what));
    const TensorId id = add_tensor(std::string(input.name), {std::move(shape), {.element = *type}}, Role::input);
    define(input.name).tensor = id;
    graph_.inputs.push_back(id);
  }
  return Done{};
}

Status Importer::add_outputs() {
  for (const RawValue& output : model_.raw->graph.outputs) {
    if (find(output.name) == nullptr) {
      return import_error(fmt::format("the output '{}' is made by no node", output.name), {},
                          "the file is incomplete; export it again");
    }
    auto id = tensor_of(output.name);
    if (!id)
      return import_error(fmt::format("the output '{}' is a sequence, not a tensor", output.name), {},
                          "only tensors are read");
    graph_.outputs.push_back(*id);
    // What a loop, a branch or several operators in place of one have made has a name from inside.
    Tensor& tensor = graph_[*id];
    if (!tensor.producer.valid() || output_names_.contains(tensor.name)) continue;
    if (tensor_names_.try_emplace(std::string(output.name), 1).second) tensor.name = output.name;
  }
  return Done{};
}

void Importer::correct_batch(NodeImport& node, std::size_t index) {
  const RawNode& raw = model_.nodes[index].node;
  if (correction_ == nullptr || !raw.domain.empty()) return;
  const auto site = correction_->record.find(index);
  if (site == correction_->record.end()) return;
  const Constant* target = node.value(1);
  if (target == nullptr) return;
  // A target that followed the batch by itself (computed from a shape) is right already.
  std::vector<std::int64_t> now;
  for (std::int64_t i = 0; i < element_count(target->shape); ++i) now.push_back(target->integer_at(i));
  if (now != site->second.target) return;
  if (raw.op_type == "Reshape") {
    corrected_target_ = corrected_reshape(site->second, node.shape(0), correction_->from, correction_->to);
    return;
  }
  // What is expanded and has grown by itself must be met by the target.
  const Shape input = node.shape(0);
  bool grown = false;
  if (input.size() == site->second.input.size() && input.size() <= now.size()) {
    const std::size_t lead = now.size() - input.size();
    for (std::size_t axis = 0; axis < input.size(); ++axis) {
      if (input[axis] == site->second.input[axis] || now[lead + axis] != site->second.input[axis]) continue;
      now[lead + axis] = input[axis];
      grown = true;
    }
  }
  if (!grown && correction_->expand && now.size() > 1 && now.front() == correction_->from) {
    now.front() = correction_->to;
    grown = true;
  }
  if (grown) corrected_target_ = std::move(now);
}

// The tracing exporter merges initializers whose values are equal (all norms start with a scale of 1) and leaves an
// Identity under the name of each that went. Tensors that the network itself shares have one name and no such node.
bool Importer::undo_merge(const RawNode& node) {
  if (!signature_.names_modules || !node.domain.empty() || node.op_type != "Identity") return false;
  if (node.inputs.size() != 1 || node.outputs.size() != 1) return false;
  const Text name = node.outputs[0];
  const bool of_member = !signature_.made_up(name) || name.starts_with("onnx::");
  const Value* kept = find(node.inputs[0]);
  if (!of_member || output_names_.contains(name) || kept == nullptr || kept->initializer == nullptr) return false;
  define(name).initializer = kept->initializer;
  ++merged_initializers;
  return true;
}

void Importer::record_batch_site(NodeImport& node, const RawNode& raw, std::size_t index) {
  const bool may_hold_batch = raw.domain.empty() && (raw.op_type == "Reshape" || raw.op_type == "Expand");
  if (record_ == nullptr || !may_hold_batch || raw.inputs.size() < 2 || raw.outputs.empty()) return;
  const Constant* target = node.value(1);
  const Value* output = find(raw.outputs[0]);
  if (target == nullptr || output == nullptr || element_count(target->shape) > most_constant_elements) return;
  BatchSite site{.input = node.shape(0),
                 .output = output->constant ? output->constant->shape : graph_[output->tensor].type.shape,
                 .target = {}};
  for (std::int64_t i = 0; i < element_count(target->shape); ++i) site.target.push_back(target->integer_at(i));
  record_->emplace(index, std::move(site));
}

Status Importer::import_node(const FlatNode& flat, std::optional<std::size_t> index) {
  const RawNode& raw = flat.node;
  if (undo_merge(raw)) return Done{};
  if (raw.domain.empty() && raw.op_type == "If") return import_branch(flat);
  if (raw.domain.empty() && raw.op_type == "Loop") return import_loop(flat);
  NodeImport node(*this, raw, flat.version);
  corrected_target_.reset();
  if (index) correct_batch(node, *index);
  ImportRule rule = find_rule(raw.domain, raw.op_type);
  if (rule == nullptr && is_standard(raw.domain)) return unknown_operator(raw, flat.version);
  if (rule == nullptr) rule = import_custom;
  if (std::ranges::all_of(raw.outputs, [](Text name) { return name.empty(); })) return Done{};  // for nobody
  rule(node);
  if (node.failed()) {
    Error error = *std::move(node.error_);
    error.place = place_of(raw);
    return error;
  }
  for (Text output : raw.outputs) {
    if (!output.empty() && find(output) == nullptr) {
      return import_error(fmt::format("its output '{}' is not one that {} can make", output, raw.op_type),
                          place_of(raw));
    }
  }
  if (graph_.tensors().size() > most_tensors) {
    return import_error(fmt::format("the model has more than {} tensors", most_tensors), place_of(raw),
                        "leave out what cuts tensors into very many pieces");
  }
  for (std::size_t i = 0; i < raw.attributes.size(); ++i) {
    if (!node.attribute_read_[i] && warnings.size() < most_warnings) {
      warnings.push_back(
          fmt::format("{}: the attribute '{}' is not known and has no effect", place_of(raw), raw.attributes[i].name));
    }
  }
  if (index) record_batch_site(node, raw, *index);
  return Done{};
}

Expected<Graph> Importer::run() {
  graph_.name = std::string(model_.raw->graph.name);
  if (model_.raw->graph.has_sparse_initializers)
    return import_error("it has sparse initializers, which are not read", {}, "export it with dense weights");
  MONET_RETURN_IF_ERROR(add_initializers());
  MONET_RETURN_IF_ERROR(add_inputs());
  for (std::size_t i = 0; i < model_.nodes.size(); ++i) MONET_RETURN_IF_ERROR(import_node(model_.nodes[i], i));
  MONET_RETURN_IF_ERROR(add_outputs());
  return std::move(graph_);
}

ImportRule find_rule(std::string_view domain, std::string_view op_type) {
  static const auto table = [] {
    std::unordered_map<std::string, ImportRule> rules;
    for (const ImportEntry& entry : all_rules())
      rules.emplace(fmt::format("{}:{}", entry.domain, entry.op_type), entry.rule);
    return rules;
  }();
  const auto found = table.find(fmt::format("{}:{}", domain, op_type));
  return found == table.end() ? nullptr : found->second;
}

}  // namespace monet::onnx
