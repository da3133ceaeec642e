#include "onnx/flatten.h"

#include "base/suggest.h"
#include "base/try.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

namespace monet::onnx {

namespace {

constexpr std::int64_t oldest_opset = 7;
constexpr std::size_t most_nodes = 1'000'000;
constexpr int deepest_nesting = 64;
constexpr std::size_t most_opsets = 100;
// Names and attributes that inlining copies, in bytes or entries: bounds its time and memory.
constexpr std::size_t most_inlined = std::size_t{1} << 27;

Error flat_error(std::string message, std::string place, std::string advice) {
  return {.message = std::move(message), .place = std::move(place), .advice = std::move(advice)};
}

Expected<std::int64_t> version_of(const RawNode& node, const std::vector<RawOpset>& opsets) {
  for (const RawOpset& opset : opsets) {
    if (opset.domain == node.domain) return opset.version;
  }
  if (!node.domain.empty()) return std::int64_t{1};
  return flat_error("the model does not say which ONNX operator set it uses", place_of(node), "export it again");
}

Status check_opsets(const std::vector<RawOpset>& opsets) {
  if (opsets.size() > most_opsets) {
    return flat_error(
        fmt::format("it uses {} operator sets, and {} is the most that is read", opsets.size(), most_opsets), {},
        "export it again");
  }
  for (const RawOpset& opset : opsets) {
    if (opset.domain.empty() && opset.version < oldest_opset) {
      return flat_error(
          fmt::format("it uses ONNX operator set {}, and {} is the oldest that is read", opset.version, oldest_opset),
          {}, "export it with a newer operator set, 17 for example");
    }
  }
  return Done{};
}

// Calls of one function replaced by its body; values inside get the call's name in front.
class Inliner {
 public:
  Inliner(const RawModel& model, FlatModel& flat) : flat_(flat) {
    for (const RawFunction& function : model.functions)
      functions_[key(function.domain, function.name, function.overload)] = &function;
  }

  Status run() {
    for (int depth = 0; !functions_.empty(); ++depth) {
      const bool any =
          std::ranges::any_of(flat_.nodes, [&](const FlatNode& node) { return callee(node.node) != nullptr; });
      if (!any) break;
      if (depth == deepest_nesting) {
        return flat_error(fmt::format("its functions call each other more than {} deep", deepest_nesting), {},
                          "they may be recursive, which ONNX forbids");
      }
      MONET_RETURN_IF_ERROR(inline_once());
    }
    return Done{};
  }

 private:
  static std::string key(Text domain, Text name, Text overload) {
    return fmt::format("{}\n{}\n{}", domain == "ai.onnx" ? Text() : domain, name, overload);
  }

  const RawFunction* callee(const RawNode& node) const {
    const auto found = functions_.find(key(node.domain, node.op_type, node.overload));
    return found == functions_.end() ? nullptr : found->second;
  }

  Status inline_once() {
    std::vector<FlatNode> nodes;
    for (FlatNode& node : flat_.nodes) {
      if (const RawFunction* function = callee(node.node)) {
        MONET_RETURN_IF_ERROR(expand(node.node, *function, nodes));
      } else {
        nodes.push_back(std::move(node));
      }
      if (nodes.size() > most_nodes) {
        return flat_error(fmt::format("it has more than {} nodes after its functions are inlined", most_nodes), {}, {});
      }
    }
    flat_.nodes = std::move(nodes);
    return Done{};
  }

  Text keep(std::string name) { return flat_.names.emplace_back(std::move(name)); }

  Status expand(const RawNode& call, const RawFunction& function, std::vector<FlatNode>& nodes) {
    if (call.inputs.size() > function.inputs.size() || call.outputs.size() > function.outputs.size()) {
      return flat_error(
          fmt::format("it calls the function '{}' with more inputs or outputs than that has", function.name),
          place_of(call), {});
    }
    MONET_RETURN_IF_ERROR(check_opsets(function.opsets));
    MONET_RETURN_IF_ERROR(spend((call.outputs.size() + 16) * function.inputs.size(), function));
    std::unordered_map<Text, Text> renamed;
    for (std::size_t i = 0; i < function.inputs.size(); ++i)
      renamed[function.inputs[i]] = i < call.inputs.size() ? call.inputs[i] : Text();
    for (std::size_t i = 0; i < call.outputs.size(); ++i) {
      const bool passes = std::ranges::find(function.inputs, function.outputs[i]) != function.inputs.end();
      if (!call.outputs[i].empty() && !passes) renamed[function.outputs[i]] = call.outputs[i];
    }
    const std::string prefix = fmt::format("{}/", !call.name.empty()     ? call.name
                                                  : call.outputs.empty() ? function.name
                                                                         : call.outputs.front());
    // Calls may share a name: the number makes what is inside unique.
    const std::string value_prefix = fmt::format("{}{}:", prefix, calls_++);
    const auto rename = [&](Text name) {
      if (name.empty()) return name;
      const auto [at, inserted] = renamed.try_emplace(name);
      if (inserted) at->second = keep(value_prefix + std::string(name));
      return at->second;
    };
    for (const RawNode& inner : function.nodes) {
      MONET_TRY(const std::int64_t version, version_of(inner, function.opsets));
      MONET_RETURN_IF_ERROR(spend(size_of(inner, call) + (inner.outputs.size() + 1) * value_prefix.size(), function));
      FlatNode node{inner, version};
      node.node.name = keep(prefix + std::string(inner.name.empty() ? inner.op_type : inner.name));
      for (Text& name : node.node.inputs) name = rename(name);
      for (Text& name : node.node.outputs) name = rename(name);
      node.node.attributes = bound_attributes(inner, call, function);
      nodes.push_back(std::move(node));
      if (nodes.size() > most_nodes) break;
    }
    // An output that is an input passes through.
    for (std::size_t i = 0; i < call.outputs.size(); ++i) {
      const bool passes = std::ranges::find(function.inputs, function.outputs[i]) != function.inputs.end();
      if (!passes || call.outputs[i].empty()) continue;
      const auto position =
          static_cast<std::size_t>(std::ranges::find(function.inputs, function.outputs[i]) - function.inputs.begin());
      RawNode identity;
      identity.name = keep(prefix + "pass");
      identity.op_type = "Identity";
      identity.inputs = {position < call.inputs.size() ? call.inputs[position] : Text()};
      identity.outputs = {call.outputs[i]};
      nodes.push_back({std::move(identity), 14});
    }
    return Done{};
  }

  Status spend(std::size_t amount, const RawFunction& function) {
    inlined_ += amount;
    if (inlined_ <= most_inlined) return Done{};
    return flat_error(fmt::format("its function '{}' becomes too large when its calls are inlined", function.name), {},
                      "export it without functions");
  }

  // What a copy of a node inside a function takes: names, attributes and those that the call may put in their place.
  static std::size_t size_of(const RawNode& inner, const RawNode& call) {
    std::size_t size = inner.name.size() + inner.inputs.size() + inner.outputs.size();
    for (Text output : inner.outputs) size += output.size();
    bool refers = false;
    for (const RawAttribute& attribute : inner.attributes) {
      size += size_of(attribute);
      refers |= !attribute.reference.empty();
      if (!attribute.reference.empty()) size += call.attributes.size();
    }
    if (!refers) return size;
    for (const RawAttribute& attribute : call.attributes) size += size_of(attribute);
    return size;
  }

  static std::size_t size_of(const RawAttribute& attribute) {
    std::size_t size = sizeof(RawAttribute) + 8 * (attribute.reals.size() + attribute.integers.size()) +
                       sizeof(Text) * attribute.texts.size();
    for (const RawTensor& tensor : attribute.tensors) {
      size += sizeof(RawTensor) + 8 * (tensor.dims.size() + tensor.single_values.size()) +
              sizeof(Text) * tensor.packed_values.size();
    }
    return size;
  }

  static std::vector<RawAttribute> bound_attributes(const RawNode& inner, const RawNode& call,
                                                    const RawFunction& function) {
    std::vector<RawAttribute> attributes;
    const auto by_name = [](const std::vector<RawAttribute>& list, Text name) {
      return std::ranges::find(list, name, &RawAttribute::name);
    };
    for (const RawAttribute& attribute : inner.attributes) {
      if (attribute.reference.empty()) {
        attributes.push_back(attribute);
        continue;
      }
      auto found = by_name(call.attributes, attribute.reference);
      if (found == call.attributes.end()) {
        found = by_name(function.attribute_defaults, attribute.reference);
        if (found == function.attribute_defaults.end()) continue;  // left out: the operator's own default
      }
      attributes.push_back(*found);
      attributes.back().name = attribute.name;
    }
    return attributes;
  }

  FlatModel& flat_;
  std::map<std::string, const RawFunction*> functions_;
  std::size_t calls_ = 0;
  std::size_t inlined_ = 0;
};

constexpr std::size_t outside = ~std::size_t{0};  // produced by no node

Expected<std::unordered_map<Text, std::size_t>> producers(const FlatModel& model) {
  std::unordered_map<Text, std::size_t> producer;
  producer.reserve(model.nodes.size() * 2);
  for (const RawTensor& initializer : model.raw->graph.initializers) {
    if (!producer.emplace(initializer.name, outside).second) {
      return flat_error(fmt::format("the initializer '{}' is defined twice", initializer.name), {},
                        "names must be unique");
    }
  }
  for (const RawValue& input : model.raw->graph.inputs) producer.emplace(input.name, outside);
  for (std::size_t i = 0; i < model.nodes.size(); ++i) {
    for (Text output : model.nodes[i].node.outputs) {
      if (!output.empty() && !producer.emplace(output, i).second) {
        return flat_error(fmt::format("its output '{}' is defined already", output), place_of(model.nodes[i].node),
                          "names must be unique");
      }
    }
  }
  return producer;
}

Error undefined(Text name, const RawNode& node, const std::unordered_map<Text, std::size_t>& producer) {
  std::vector<std::string> known;
  for (const auto& [candidate, index] : producer) {
    if (known.size() < 10000) known.emplace_back(candidate);
  }
  std::ranges::sort(known);
  const std::string guess = nearest(name, known);
  return flat_error(
      fmt::format("its input '{}' is defined nowhere", name), place_of(node),
      guess.empty() ? "the file is incomplete; export it again" : fmt::format("did you mean '{}'?", guess));
}

// Kahn's algorithm, keeping the file's order wherever it already is one.
Status sort_nodes(FlatModel& model) {
  MONET_TRY(const auto producer, producers(model));
  const std::size_t count = model.nodes.size();
  std::vector<std::size_t> missing(count, 0);
  std::vector<std::vector<std::size_t>> readers(count);
  bool sorted = true;
  for (std::size_t i = 0; i < count; ++i) {
    for (Text input : model.nodes[i].node.inputs) {
      if (input.empty()) continue;
      const auto found = producer.find(input);
      if (found == producer.end()) return undefined(input, model.nodes[i].node, producer);
      if (found->second == outside) continue;
      sorted &= found->second < i;
      ++missing[i];
      readers[found->second].push_back(i);
    }
  }
  if (sorted) return Done{};
  std::vector<std::size_t> ready;
  std::vector<std::size_t> order;
  const auto later = std::greater<>{};
  for (std::size_t i = 0; i < count; ++i) {
    if (missing[i] == 0) ready.push_back(i);
  }
  std::ranges::make_heap(ready, later);
  while (!ready.empty()) {
    std::ranges::pop_heap(ready, later);
    const std::size_t node = ready.back();
    ready.pop_back();
    order.push_back(node);
    for (std::size_t reader : readers[node]) {
      if (--missing[reader] > 0) continue;
      ready.push_back(reader);
      std::ranges::push_heap(ready, later);
    }
  }
  if (order.size() < count) {
    const auto stuck = std::ranges::find_if(missing, [](std::size_t n) { return n > 0; });
    const RawNode& node = model.nodes[static_cast<std::size_t>(stuck - missing.begin())].node;
    return flat_error("it depends on its own output: the graph has a cycle", place_of(node),
                      "an ONNX graph must have none");
  }
  std::vector<FlatNode> nodes;
  nodes.reserve(count);
  for (std::size_t i : order) nodes.push_back(std::move(model.nodes[i]));
  model.nodes = std::move(nodes);
  return Done{};
}

}  // namespace

Expected<FlatModel> flatten(RawModel& model) {
  MONET_RETURN_IF_ERROR(check_opsets(model.opsets));
  FlatModel flat{.raw = &model, .nodes = {}, .names = {}};
  flat.nodes.reserve(model.graph.nodes.size());
  for (RawNode& node : model.graph.nodes) {
    MONET_TRY(const std::int64_t version, version_of(node, model.opsets));
    flat.nodes.push_back({std::move(node), version});
  }
  model.graph.nodes.clear();
  MONET_RETURN_IF_ERROR(Inliner(model, flat).run());
  MONET_RETURN_IF_ERROR(sort_nodes(flat));
  return flat;
}

}  // namespace monet::onnx
