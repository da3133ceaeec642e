#include "onnx/provenance.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

namespace monet::onnx {

namespace {

bool is_convolution(const RawNode& node) { return node.op_type == "Conv" || node.op_type == "ConvTranspose"; }

// The graph-capturing exporter records the rewrite rules that made a node; the traced one gives weights it computed a
// name of its own, "onnx::Conv_123", and folding a batch norm is the one reason it has to compute a convolution's bias.
bool was_folded(const RawNode& node) {
  for (const auto& [key, value] : node.metadata) {
    if (key == "pkg.onnxscript.rewriter.rule_name" && value.find("BatchNorm") != Text::npos) return true;
  }
  return node.inputs.size() > 2 && node.inputs[1].starts_with("onnx::Conv") && node.inputs[2].starts_with("onnx::Conv");
}

bool is_norm(Op op) { return family_of(op) == OpFamily::norm; }
bool is_product(Op op) { return family_of(op) == OpFamily::contraction || family_of(op) == OpFamily::convolution; }

// How many products read `id`, or a view of it.
std::size_t products_of(const Graph& graph, const Readers& readers, TensorId id) {
  std::size_t products = 0;
  std::vector<TensorId> open = {id};
  for (std::size_t next = 0; next < open.size(); ++next) {
    for (NodeId reader : readers.of(open[next])) {
      const Node& node = graph[reader];
      if (is_product(node.op) && node.inputs[0] != open[next]) ++products;
      if (family_of(node.op) == OpFamily::view && node.inputs[0] == open[next]) open.push_back(node.outputs[0]);
    }
  }
  return products;
}

// Exporters that merge equal initializers leave one norm's scale to all norms, because all start at 1. A network that
// really shares its layers shares their matrices too.
std::optional<std::string> merged_parameter(const Graph& graph) {
  const Readers readers(graph);
  std::optional<std::string> merged;
  for (std::size_t i = 0; i < graph.tensors().size(); ++i) {
    const TensorId id(i);
    if (!graph[id].parameter) continue;
    const bool matrix = graph[id].type.shape.size() > 1;
    if (matrix && products_of(graph, readers, id) > 1) return std::nullopt;
    const auto norms = std::ranges::count_if(
        readers.of(id), [&](NodeId node) { return is_norm(graph[node].op) && graph[node].inputs[0] != id; });
    if (norms > 1 && !merged) merged = graph[id].name;
  }
  return merged;
}

// What the exporter says it was given and neither wrote down nor computed something else from. A file without computed
// initializers was not optimized: what it lacks is tied to something else, or unused.
std::optional<std::string> lost_parameters(const FlatModel& model, const Signature& signature, const Graph& graph) {
  std::unordered_set<std::string> written;
  bool optimized = false;
  for (const RawTensor& tensor : model.raw->graph.initializers) {
    written.emplace(tensor.name);
    optimized |= signature.made_up(tensor.name);
  }
  if (!optimized) return std::nullopt;
  std::vector<std::string> missing;
  for (const std::string& name : signature.parameters) {
    if (!written.contains(name)) missing.push_back(name);
  }
  const auto computed = static_cast<std::size_t>(std::ranges::count_if(
      graph.tensors(), [&](const Tensor& tensor) { return tensor.parameter && signature.made_up(tensor.name); }));
  if (missing.size() <= computed) return std::nullopt;
  return fmt::format(
      "{} of the parameters that the exporter lists are not in this file ('{}' may be one): they were merged with "
      "others of equal value, folded or dropped; it may have fewer parameters than the network that is trained; export "
      "without optimization to keep them",
      missing.size() - computed, *std::ranges::min_element(missing));
}

// A table of embeddings that also serves as the last layer's weight is transposed for it when constants are folded.
std::optional<std::string> untied_parameter(const Signature& signature, const Graph& graph) {
  if (!signature.names_modules) return std::nullopt;
  std::map<Shape, TensorId> tables;
  for (const Node& node : graph.nodes()) {
    if (node.op != Op::Gather || !graph[node.inputs[0]].parameter) continue;
    const Shape& shape = graph[node.inputs[0]].type.shape;
    if (shape.size() == 2) tables.emplace(Shape{shape[1], shape[0]}, node.inputs[0]);
  }
  for (const Tensor& tensor : graph.tensors()) {
    if (!tensor.parameter || !signature.made_up(tensor.name)) continue;
    const auto table = tables.find(tensor.type.shape);
    if (table == tables.end()) continue;
    return fmt::format(
        "'{}' was computed when this file was exported and may be '{}' transposed: if the network ties them, {} "
        "parameters are counted twice; export without constant folding to keep them one",
        tensor.name, graph[table->second].name, element_count(tensor.type.shape));
  }
  return std::nullopt;
}

// Weights that are integers, in order of use: what training would change is no longer there.
std::vector<Text> quantized_weights(const FlatModel& model) {
  std::unordered_set<Text> several;
  for (const RawTensor& tensor : model.raw->graph.initializers) {
    if (std::ranges::any_of(tensor.dims, [](std::int64_t size) { return size > 1; })) several.insert(tensor.name);
  }
  std::vector<Text> found;
  for (const FlatNode& flat : model.nodes) {
    const RawNode& node = flat.node;
    const bool product = node.op_type == "MatMulInteger" || node.op_type == "ConvInteger";
    const std::size_t at = product ? 1 : 0;
    if (!node.domain.empty() || (!product && node.op_type != "DequantizeLinear") || node.inputs.size() <= at) continue;
    if (several.erase(node.inputs[at]) > 0) found.push_back(node.inputs[at]);
  }
  return found;
}

}  // namespace

bool Signature::made_up(std::string_view name) const {
  if (!parameters.empty()) return !parameters.contains(std::string(name)) && !buffers.contains(std::string(name));
  // "onnx::Add_555", "val_7", "/layer/Constant_output_0", "123"
  return name.find("::") != std::string_view::npos || name.starts_with("val_") || name.starts_with("/") ||
         std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; });
}

bool Signature::is_member(std::string_view name) const {
  return names_modules && !made_up(name) && !buffers.contains(std::string(name));
}

Signature signature_of(const RawModel& model) {
  Signature signature;
  signature.names_modules = model.producer == "pytorch";
  for (const auto& [key, value] : model.graph.metadata) {
    if (key != "pkg.torch.export.ExportedProgram.graph_signature") continue;
    // Lines such as: p_bn1_weight: PARAMETER target='bn1.weight'
    Text rest = value;
    while (!rest.empty()) {
      const Text line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(rest.size(), line.size() + 1));
      const auto quoted = line.find("target='");
      if (quoted == Text::npos) continue;
      const Text name = line.substr(quoted + 8, line.find('\'', quoted + 8) - quoted - 8);
      if (line.find(": PARAMETER ") != Text::npos) signature.parameters.emplace(name);
      if (line.find(": BUFFER ") != Text::npos || line.find(": CONSTANT_TENSOR ") != Text::npos)
        signature.buffers.emplace(name);
    }
  }
  return signature;
}

std::vector<std::string> provenance_warnings(const FlatModel& model, const Signature& signature, const Graph& graph) {
  std::vector<std::string> warnings;
  const auto folded = std::ranges::count_if(
      model.nodes, [](const FlatNode& node) { return is_convolution(node.node) && was_folded(node.node); });
  if (folded > 0) {
    warnings.push_back(
        "batch norms were folded into " + std::to_string(folded) +
        " convolutions when this file was exported: it can be costed, but it is not the network that is trained; "
        "export in training mode without optimization to keep them");
  }
  if (const auto merged = merged_parameter(graph)) {
    warnings.push_back(
        "equal initializers were merged when this file was exported ('" + *merged +
        "' serves several norms): it has fewer parameters than the network that is trained; export without "
        "optimization to keep them apart");
  }
  if (const std::vector<Text> quantized = quantized_weights(model); !quantized.empty()) {
    warnings.push_back(fmt::format(
        "it is quantized ('{}' is one of {} tensors of integers that stand for weights): integers are not trained and "
        "not counted as parameters; it can be costed, but it is not the network that is trained; give the model as it "
        "was before quantization",
        quantized.front(), quantized.size()));
  }
  if (auto lost = lost_parameters(model, signature, graph)) warnings.push_back(*std::move(lost));
  if (auto untied = untied_parameter(signature, graph)) warnings.push_back(*std::move(untied));
  return warnings;
}

}  // namespace monet::onnx
