// Tracing exporters write an If where a shape decides what is computed (PyTorch's squeeze of an axis that may be 1),
// and a Loop where it decides how often (tensor_split, bags of embeddings). Once shapes are bound that is known: the
// branch taken, or the turns of the loop one after the other, stand in place of the node.
#include "base/try.h"
#include "graph/infer.h"
#include "onnx/importer.h"

#include <fmt/format.h>

#include <algorithm>

namespace monet::onnx {

namespace {

constexpr std::size_t most_subgraph_nodes = 200'000;

Error error_of(const RawNode& node, std::string message, std::string advice) {
  return {.message = std::move(message), .place = place_of(node), .advice = std::move(advice)};
}

Error damaged(const RawNode& node) { return error_of(node, "its graphs are damaged", "export the model again"); }

Error data_decides(const RawNode& node) {
  return error_of(node, fmt::format("data decide what the {} does, and such control flow is not read", node.op_type),
                  "export the model with its control flow unrolled");
}

const RawGraph* subgraph(const RawNode& node, Text name) {
  const auto found = std::ranges::find(node.attributes, name, &RawAttribute::name);
  return found == node.attributes.end() ? nullptr : found->subgraph.get();
}

}  // namespace

Expected<bool> Importer::known_condition(const RawNode& node, const Value& value) {
  Value copy = value;
  const Constant* known = constant_of(copy);
  if (known == nullptr || is_floating(known->type) || element_count(known->shape) != 1) return data_decides(node);
  return known->integer_at(0) != 0;
}

// The values of its outputs. Names inside may be used again in another turn, branch or outside: a prefix keeps them
// apart. What is not made inside comes from outside.
Expected<std::vector<Importer::Value>> Importer::import_subgraph(const RawNode& owner, std::int64_t version,
                                                                 const RawGraph& graph, std::vector<Value> arguments) {
  if (arguments.size() != graph.inputs.size()) return damaged(owner);
  const Text base = owner.name.empty() ? owner.outputs.front() : owner.name;
  const std::string prefix = fmt::format("{}/{}:", base, inner_names_.size());
  // The graphs around it, from the outermost in: it may read what they made.
  const std::size_t depth = scopes_.size();
  scopes_.emplace_back();
  const auto rename = [&](Text name) {
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
      if (const auto found = scope->find(name); found != scope->end()) return found->second;
    }
    return name;
  };
  const auto add = [&](Text name) {
    if (name.empty()) return true;
    return scopes_.back().emplace(name, Text(inner_names_.emplace_back(prefix + std::string(name)))).second;
  };
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (!add(graph.inputs[i].name)) return damaged(owner);
    define(rename(graph.inputs[i].name)) = std::move(arguments[i]);
  }
  for (const RawTensor& tensor : graph.initializers) {
    const bool readable = element_type_of(tensor.data_type) && impossible_shape(tensor.dims).empty();
    if (!readable) return damaged(owner);
    // A weight inside a loop is the same in every turn.
    if (const auto known = inner_initializers_.find(&tensor); known != inner_initializers_.end()) {
      if (!scopes_.back().emplace(tensor.name, known->second).second) return damaged(owner);
      continue;
    }
    if (!add(tensor.name)) return damaged(owner);
    inner_initializers_.emplace(&tensor, rename(tensor.name));
    define(rename(tensor.name)).initializer = &tensor;
  }
  for (const RawNode& node : graph.nodes) {
    for (Text output : node.outputs) {
      if (!add(output)) return damaged(owner);
    }
  }
  for (const RawNode& node : graph.nodes) {
    if (++subgraph_nodes_ > most_subgraph_nodes) {
      return error_of(owner, fmt::format("its loops and branches come to more than {} nodes", most_subgraph_nodes),
                      "export the model with smaller loops");
    }
    FlatNode inlined{node, version};
    inlined.node.name = inner_names_.emplace_back(prefix + std::string(node.name));
    for (Text& name : inlined.node.inputs) {
      name = rename(name);
      if (!name.empty() && find(name) == nullptr)
        return error_of(inlined.node, fmt::format("its input '{}' is defined nowhere", name), "export the model again");
    }
    for (Text& name : inlined.node.outputs) name = rename(name);
    MONET_RETURN_IF_ERROR(import_node(inlined, std::nullopt));
  }
  std::vector<Value> results;
  for (const RawValue& output : graph.outputs) {
    const Text name = rename(output.name);
    const Value* made = find(name);
    if (made == nullptr) return damaged(owner);
    // One initializer stays one tensor under all its names.
    if (made->initializer != nullptr) MONET_RETURN_IF_ERROR(tensor_of(name));
    results.push_back(*made);
  }
  scopes_.resize(depth);
  return results;
}

Status Importer::import_branch(const FlatNode& conditional) {
  const RawNode& node = conditional.node;
  if (node.inputs.size() != 1 || node.outputs.empty() || find(node.inputs[0]) == nullptr) return damaged(node);
  MONET_TRY(const bool taken, known_condition(node, *find(node.inputs[0])));
  const RawGraph* branch = subgraph(node, taken ? "then_branch" : "else_branch");
  if (branch == nullptr || branch->outputs.size() < node.outputs.size()) return damaged(node);
  MONET_TRY(std::vector<Value> results, import_subgraph(node, conditional.version, *branch, {}));
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (!node.outputs[i].empty()) define(node.outputs[i]) = std::move(results[i]);
  }
  return Done{};
}

// One turn: gives the body the turn's number, the condition and the state, and takes the new ones. What comes after
// them in the body's outputs is stacked, turn by turn.
Status Importer::import_turn(const FlatNode& loop, const RawGraph& body, std::int64_t turn, std::vector<Value>& state,
                             std::vector<std::vector<TensorId>>& stacked) {
  std::vector<Value> arguments(1);
  arguments[0].constant = Constant::integers(ElementType::int64, {}, {turn});
  arguments.insert(arguments.end(), state.begin(), state.end());
  MONET_TRY(std::vector<Value> results, import_subgraph(loop.node, loop.version, body, std::move(arguments)));
  for (std::size_t i = 0; i < stacked.size(); ++i) {
    const Text name = inner_names_.emplace_back(fmt::format("{}/{}", loop.node.outputs.front(), inner_names_.size()));
    define(name) = results[state.size() + i];
    MONET_TRY(const TensorId id, tensor_of(name));
    stacked[i].push_back(id);
  }
  std::move(results.begin(), results.begin() + static_cast<std::ptrdiff_t>(state.size()), state.begin());
  return Done{};
}

Status Importer::import_loop(const FlatNode& loop) {
  const RawNode& node = loop.node;
  const RawGraph* body = subgraph(node, "body");
  if (body == nullptr || node.inputs.size() < 2 || node.outputs.empty()) return damaged(node);
  const std::size_t carried = node.inputs.size() - 2;
  if (body->inputs.size() != carried + 2 || body->outputs.size() < carried + 1) return damaged(node);
  std::vector<std::vector<TensorId>> stacked(body->outputs.size() - carried - 1);
  if (node.outputs.size() > carried + stacked.size()) return damaged(node);

  std::int64_t turns = INT64_MAX;  // until the condition says so
  if (!node.inputs[0].empty()) {
    Value* limit = find(node.inputs[0]);
    const Constant* known = limit == nullptr ? nullptr : constant_of(*limit);
    if (known == nullptr || is_floating(known->type) || element_count(known->shape) != 1) return data_decides(node);
    turns = known->integer_at(0);
  }
  std::vector<Value> state(carried + 1);  // the condition, and what is carried from turn to turn
  state[0].constant = Constant::integers(ElementType::boolean, {}, {1});
  for (std::size_t i = 1; i < node.inputs.size(); ++i) {
    if (i == 1 && node.inputs[i].empty()) continue;
    const Value* given = find(node.inputs[i]);
    if (given == nullptr) return damaged(node);
    if (given->initializer != nullptr && i > 1) MONET_RETURN_IF_ERROR(tensor_of(node.inputs[i]));
    state[i - 1] = *given;
  }
  for (std::int64_t turn = 0; turn < turns; ++turn) {
    MONET_TRY(const bool goes_on, known_condition(node, state[0]));
    if (!goes_on) break;
    // A body without nodes would never use up what it may.
    if (++subgraph_nodes_ > most_subgraph_nodes)
      return error_of(node, "it takes too many turns", "export the model with smaller loops");
    MONET_RETURN_IF_ERROR(import_turn(loop, *body, turn, state, stacked));
  }
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i].empty()) continue;
    if (i < carried) {
      define(node.outputs[i]) = state[i + 1];
      continue;
    }
    const Text name = inner_names_.emplace_back(fmt::format("{}/turns", node.outputs[i]));
    Value& turned = define(name);
    turned.is_sequence = true;
    turned.sequence = stacked[i - carried];
    FlatNode stack{{}, loop.version};
    stack.node.name = name;
    stack.node.op_type = "ConcatFromSequence";
    stack.node.inputs = {name};
    stack.node.outputs = {node.outputs[i]};
    for (Text attribute : {Text("axis"), Text("new_axis")}) {
      RawAttribute written;
      written.name = attribute;
      written.kind = RawAttribute::Kind::integer;
      written.integer = attribute == "axis" ? 0 : 1;
      stack.node.attributes.push_back(std::move(written));
    }
    MONET_RETURN_IF_ERROR(import_node(stack, std::nullopt));
  }
  return Done{};
}

}  // namespace monet::onnx
