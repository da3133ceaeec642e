#include "interpret/prepared_graph.h"

#include "base/try.h"
#include "graph/expand.h"

#include <fmt/format.h>

#include <algorithm>

namespace monet {

namespace {

bool is_there(const Array& array) { return std::cmp_equal(array.values.size(), element_count(array.shape)); }

}  // namespace

Expected<PreparedGraph> PreparedGraph::prepare(Graph graph, const std::vector<TensorId>& kept) {
  PreparedGraph program;
  program.graph_ = std::move(graph);
  const Graph& own = program.graph_;
  std::vector<bool> stays(own.tensors().size(), false);
  for (TensorId id : kept) stays[id.index()] = true;
  // The last node that makes or reads each tensor.
  std::vector<std::size_t> last(own.tensors().size(), own.nodes().size());
  for (std::size_t n = 0; n < own.nodes().size(); ++n) {
    const Node& node = own.nodes()[n];
    for (const auto* ids : {&node.inputs, &node.outputs}) {
      for (TensorId id : *ids) {
        if (id.valid()) last[id.index()] = n;
      }
    }
    program.composites_.emplace_back();
    if (!is_composite(node.op)) continue;
    MONET_TRY(program.composites_.back(), program.expansion_of(node));
  }
  program.last_read_by_.resize(own.nodes().size());
  for (std::size_t i = 0; i < last.size(); ++i) {
    const TensorId id(i);
    if (own[id].producer.valid() && !stays[i]) program.last_read_by_[last[i]].push_back(id);
  }
  return program;
}

Expected<PreparedGraph::Composite> PreparedGraph::expansion_of(const Node& node) const {
  Graph alone;
  Node copy = node;
  const auto add = [&](std::vector<TensorId>& ids, std::vector<TensorId>& ends) {
    for (TensorId& id : ids) {
      if (!id.valid()) continue;
      Tensor tensor{.name = std::to_string(alone.tensors().size()), .type = graph_[id].type, .role = Role::input};
      // Inside, numbers are not those of the formats around it.
      if (tensor.type.format.is_real()) tensor.type.format = {.element = ElementType::float64};
      id = alone.add_tensor(std::move(tensor));
      ends.push_back(id);
    }
  };
  add(copy.inputs, alone.inputs);
  add(copy.outputs, alone.outputs);
  Composite result{.program = nullptr, .inputs = copy.inputs, .outputs = copy.outputs};
  alone.add_node(std::move(copy));
  std::vector<TensorId> moved;
  MONET_TRY(Graph expanded,
            expand(std::move(alone), [&](const Graph&, const Node& each) { return each.op == node.op; }, &moved));
  for (auto* ids : {&result.inputs, &result.outputs}) {
    for (TensorId& id : *ids) {
      if (id.valid()) id = moved[id.index()];
    }
  }
  std::vector<TensorId> kept = result.outputs;
  std::erase(kept, TensorId());
  MONET_TRY(PreparedGraph program, prepare(std::move(expanded), kept));
  result.program = std::make_shared<const PreparedGraph>(std::move(program));
  return result;
}

Expected<std::vector<Array>> PreparedGraph::results_of(std::size_t node, std::span<const Array* const> inputs,
                                                       const RunOptions& options) const {
  const Composite& composite = composites_[node];
  if (composite.program == nullptr) return execute(graph_, graph_.nodes()[node], inputs, options);
  std::vector<Array> values(composite.program->graph().tensors().size(), Array{.shape = {}, .values = {}});
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] != nullptr) values[composite.inputs[i].index()] = *inputs[i];
  }
  MONET_RETURN_IF_ERROR(composite.program->run(values, {.rounds = false, .seed = options.seed}));
  std::vector<Array> results;
  for (TensorId id : composite.outputs) results.push_back(id.valid() ? std::move(values[id.index()]) : Array{});
  if (options.rounds) round_results(graph_, graph_.nodes()[node], results, options);
  return results;
}

Status PreparedGraph::run(std::vector<Array>& values, const RunOptions& options) const {
  std::vector<const Array*> inputs;
  for (std::size_t n = 0; n < graph_.nodes().size(); ++n) {
    const Node& node = graph_.nodes()[n];
    inputs.clear();
    for (TensorId id : node.inputs) {
      inputs.push_back(nullptr);
      if (!id.valid()) continue;
      Array& value = values[id.index()];
      if (!is_there(value)) {
        const Constant* constant = graph_.constant(id);
        if (constant == nullptr)
          return Error{.message = "no value is given for this tensor", .place = graph_[id].name, .advice = {}};
        value = to_array(*constant);
      }
      inputs.back() = &value;
    }
    MONET_TRY(std::vector<Array> results, results_of(n, inputs, options));
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i].valid()) values[node.outputs[i].index()] = std::move(results[i]);
    }
    for (TensorId id : last_read_by_[n]) values[id.index()] = Array{};
  }
  return Done{};
}

std::int64_t PreparedGraph::elements() const {
  std::int64_t sum = 0;
  for (std::size_t n = 0; n < graph_.nodes().size(); ++n) {
    if (composites_[n].program != nullptr) {
      sum += composites_[n].program->elements();
      continue;
    }
    for (TensorId id : graph_.nodes()[n].outputs) sum += id.valid() ? element_count(graph_[id].type.shape) : 0;
  }
  return sum;
}

std::int64_t PreparedGraph::peak_elements() const {
  std::int64_t now = 0;
  for (const Tensor& tensor : graph_.tensors()) {
    if (!tensor.producer.valid()) now += element_count(tensor.type.shape);
  }
  std::int64_t peak = now;
  for (std::size_t n = 0; n < graph_.nodes().size(); ++n) {
    for (TensorId id : graph_.nodes()[n].outputs) now += id.valid() ? element_count(graph_[id].type.shape) : 0;
    const PreparedGraph* inner = composites_[n].program.get();
    peak = std::max(peak, now + (inner == nullptr ? 0 : inner->peak_elements()));
    for (TensorId id : last_read_by_[n]) now -= element_count(graph_[id].type.shape);
  }
  return peak;
}

}  // namespace monet
