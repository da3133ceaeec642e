#include "onnx/provenance.h"

#include <algorithm>
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

// Exporters that merge equal initializers leave one norm's scale to all norms, because all start at 1. A network that
// really shares its layers shares their matrices too.
std::optional<std::string> merged_parameter(const Graph& graph) {
  const Readers readers(graph);
  std::optional<std::string> merged;
  for (std::size_t i = 0; i < graph.tensors().size(); ++i) {
    const TensorId id(i);
    if (!graph[id].parameter) continue;
    const auto count = [&](auto kind) {
      return std::ranges::count_if(readers.of(id),
                                   [&](NodeId node) { return kind(graph[node].op) && graph[node].inputs[0] != id; });
    };
    if (count(is_product) > 1) return std::nullopt;
    if (count(is_norm) > 1 && !merged) merged = graph[id].name;
  }
  return merged;
}

}  // namespace

Signature signature_of(const RawModel& model) {
  Signature signature;
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
      if (line.find(": BUFFER ") != Text::npos) signature.buffers.emplace(name);
    }
  }
  return signature;
}

std::vector<std::string> provenance_warnings(const FlatModel& model, const Graph& graph) {
  std::vector<std::string> warnings;
  const bool has_norm =
      std::ranges::any_of(graph.nodes(), [](const Node& node) { return node.op == Op::BatchNormalization; });
  const auto folded = std::ranges::count_if(
      model.nodes, [](const FlatNode& node) { return is_convolution(node.node) && was_folded(node.node); });
  if (!has_norm && folded > 0) {
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
  return warnings;
}

}  // namespace monet::onnx
