#include "training/lora.h"

#include "base/glob.h"
#include "base/try.h"
#include "graph/op_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace monet::training {

namespace {

// The parameter that views carry to this place, or the tensor where that chain ends.
TensorId origin(const Graph& graph, TensorId id) {
  while (graph[id].producer.valid()) {
    const Node& node = graph[graph[id].producer];
    if (family_of(node.op) != OpFamily::view || node.inputs.size() != 1) break;
    id = node.inputs[0];
  }
  return id;
}

// Whether a product is that of a matrix, or of one for each of its batches (experts).
bool is_layer(const Graph& graph, const Node& node) {
  const Shape& x = graph[node.inputs[0]].type.shape;
  const Shape& matrix = graph[node.inputs[1]].type.shape;
  if (matrix.size() < 2 || node.attributes.integer(Attr::trans_a) != 0) return false;
  return matrix.size() == 2 || (x.size() == matrix.size() && std::equal(matrix.begin(), matrix.end() - 2, x.begin()));
}

// The weight of a layer that can be adapted; not valid for other nodes.
TensorId weight_of(const Graph& graph, const Node& node) {
  const bool product = node.op == Op::MatMul || node.op == Op::Gemm;
  const bool convolution = node.op == Op::Conv && node.attributes.integer(Attr::group) == 1;
  if (!product && !convolution) return {};
  const TensorId weight = origin(graph, node.inputs[1]);
  if (!graph[weight].parameter) return {};
  return !product || is_layer(graph, node) ? weight : TensorId();
}

// By node: it can be adapted, and another such node depends on it. Those that nobody depends on are output layers.
std::vector<bool> inner_layers(const Graph& graph) {
  std::vector<bool> leads_on(graph.tensors().size(), false);
  std::vector<bool> inner(graph.nodes().size(), false);
  for (std::size_t i = graph.nodes().size(); i-- > 0;) {
    const Node& node = graph.nodes()[i];
    const bool used =
        std::ranges::any_of(node.outputs, [&](TensorId id) { return id.valid() && leads_on[id.index()]; });
    const bool layer = weight_of(graph, node).valid();
    inner[i] = layer && used;
    if (!layer && !used) continue;
    for (TensorId id : node.inputs) {
      if (id.valid()) leads_on[id.index()] = true;
    }
  }
  return inner;
}

std::vector<bool> looked_up(const Graph& graph) {
  std::vector<bool> result(graph.tensors().size(), false);
  for (const Node& node : graph.nodes()) {
    if (node.op == Op::Gather) result[origin(graph, node.inputs[0]).index()] = true;
  }
  return result;
}

Expected<std::vector<bool>> chosen_layers(const Graph& graph, const LoraOptions& options) {
  std::vector<bool> chosen(graph.nodes().size(), false);
  std::vector<bool> matched(options.targets.size(), false);
  const std::vector<bool> inner = inner_layers(graph);
  const std::vector<bool> tables = looked_up(graph);
  const bool any_inner = std::ranges::find(inner, true) != inner.end();
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const TensorId weight = weight_of(graph, graph.nodes()[i]);
    if (!weight.valid()) continue;
    if (options.targets.empty()) chosen[i] = (inner[i] || !any_inner) && !tables[weight.index()];
    for (std::size_t t = 0; t < options.targets.size(); ++t) {
      if (matches(options.targets[t], graph[weight].name)) chosen[i] = matched[t] = true;
    }
  }
  for (std::size_t t = 0; t < matched.size(); ++t) {
    if (matched[t]) continue;
    return Error{
        .message = fmt::format("no weight of a product or ungrouped convolution matches '{}'", options.targets[t]),
        .place = "--lora-target",
        .advice = "monet train --parameters lists the names"};
  }
  if (std::ranges::find(chosen, true) == chosen.end()) {
    return Error{.message = "the network has no weight of a product or ungrouped convolution to adapt",
                 .place = "--lora",
                 .advice = "train some parameters as they are, with --train"};
  }
  return chosen;
}

class Adapter {
 public:
  Adapter(GraphBuilder& builder, const LoraOptions& options) : builder_(builder), options_(options) {}

  // The layer's output with the addition.
  TensorId adapt(const Node& layer, TensorId output) {
    OpWriter writer(builder_, layer.name + ".lora");
    TensorId addition = layer.op == Op::Conv ? convolution(writer, layer) : product(writer, layer);
    const double scale = options_.alpha / static_cast<double>(options_.rank);
    if (scale != 1) addition = writer.times(addition, scale);
    return writer.plus(output, addition);
  }

  const std::vector<TensorId>& added() const { return added_; }

 private:
  // A layer that shares its weight shares the additions.
  TensorId parameter(const Node& layer, const char* suffix, Shape shape) {
    const std::string name = builder_.graph()[origin(builder_.graph(), layer.inputs[1])].name + suffix;
    const auto [entry, fresh] = parameters_.try_emplace({name, shape});
    if (!fresh) return entry->second;
    entry->second = builder_.parameter(name, std::move(shape), builder_.type(layer.inputs[1]));
    added_.push_back(entry->second);
    return entry->second;
  }

  TensorId product(OpWriter& writer, const Node& layer) {
    const bool transposed = layer.attributes.integer(Attr::trans_b) != 0;
    const Shape weight = builder_.shape(layer.inputs[1]);
    const std::size_t last = weight.size() - 1;
    Shape narrow = weight;
    narrow[last - 1] = options_.rank;
    narrow[last] = weight[transposed ? last : last - 1];
    Shape wide = weight;
    wide[last - 1] = weight[transposed ? last - 1 : last];
    wide[last] = options_.rank;
    const TensorId a = parameter(layer, ".lora_A", std::move(narrow));
    const TensorId b = parameter(layer, ".lora_B", std::move(wide));
    return writer.matmul(writer.matmul(layer.inputs[0], a, false, true), b, false, true);
  }

  TensorId convolution(OpWriter& writer, const Node& layer) {
    Shape narrow = builder_.shape(layer.inputs[1]);
    const std::size_t spatial = narrow.size() - 2;
    Shape pointwise(narrow.size(), 1);
    pointwise[0] = narrow[0];
    pointwise[1] = options_.rank;
    narrow[0] = options_.rank;
    const TensorId a = parameter(layer, ".lora_A", narrow);
    const TensorId b = parameter(layer, ".lora_B", pointwise);
    const TensorId down = writer.add(Op::Conv, {layer.inputs[0], a}, layer.attributes);
    return writer.add(Op::Conv, {down, b},
                      {{Attr::strides, std::vector<std::int64_t>(spatial, 1)},
                       {Attr::dilations, std::vector<std::int64_t>(spatial, 1)},
                       {Attr::pads, std::vector<std::int64_t>(2 * spatial, 0)},
                       {Attr::group, std::int64_t{1}}});
  }

  GraphBuilder& builder_;
  const LoraOptions& options_;
  std::map<std::pair<std::string, Shape>, TensorId> parameters_;
  std::vector<TensorId> added_;
};

}  // namespace

Expected<LoraGraph> add_lora(Graph graph, const LoraOptions& options) {
  constexpr std::int64_t largest = std::int64_t{1} << 20;
  if (options.rank < 1 || options.rank > largest) {
    return Error{.message = fmt::format("a rank of {} is not possible", options.rank),
                 .place = "--lora",
                 .advice = fmt::format("give a number from 1 to {}", largest)};
  }
  MONET_TRY(const std::vector<bool> chosen, chosen_layers(graph, options));
  const std::vector<Node> nodes = graph.nodes();
  GraphBuilder builder(std::move(graph));
  builder.edit().set_nodes({});
  Adapter adapter(builder, options);
  std::unordered_map<TensorId, TensorId> replaced;
  const auto current = [&](TensorId id) {
    const auto found = replaced.find(id);
    return found == replaced.end() ? id : found->second;
  };
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    Node node = nodes[i];
    for (TensorId& id : node.inputs) id = current(id);
    builder.edit().add_node(node);
    if (chosen[i]) replaced.emplace(node.outputs[0], adapter.adapt(node, node.outputs[0]));
  }
  for (TensorId& id : builder.edit().outputs) id = current(id);
  LoraGraph result{.graph = {}, .added = adapter.added()};
  MONET_TRY(result.graph, builder.finish());
  return result;
}

}  // namespace monet::training
