#include "interpret/interpret.h"

#include "base/random.h"

namespace monet {

namespace {

bool is_stochastic(const Node& node, std::size_t output) {
  if (!node.attributes.has(Attr::mode) || node.attributes.text(Attr::mode) != "stochastic") return false;
  return output == 0 || family_of(node.op) != OpFamily::optimizer;
}

}  // namespace

void round_to(const Format& format, Array& array, const QuantizeOptions& options) {
  if (!format.is_real() || format == Format{.element = ElementType::float64}) return;
  if (format == Format{} && options.rounding == Rounding::nearest) {
    for (double& value : array.values) value = static_cast<float>(value);
    return;
  }
  quantize(array.values, array.shape, format, options);
}

void round_results(const Graph& graph, const Node& node, std::vector<Array>& results, const RunOptions& options) {
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    const TensorId id = node.outputs[i];
    if (!id.valid()) continue;
    if (is_stochastic(node, i)) {
      const std::uint64_t seed = SeededRandom(options.seed ^ id.index()).next();
      round_to(graph[id].type.format, results[i], {.rounding = Rounding::stochastic, .seed = seed});
    } else {
      round_to(graph[id].type.format, results[i]);
    }
  }
}

}  // namespace monet
