#include "graph/narrow.h"

#include "graph/builder.h"

#include <fmt/format.h>

#include <algorithm>

namespace monet {

namespace {

bool is_wide(const Node& node) {
  const bool splits = node.op == Op::Sum || node.op == Op::Max || node.op == Op::Min || node.op == Op::Mean;
  return splits && node.inputs.size() > most_inputs_at_once;
}

// Adds all of the chain but its last operator, which is returned with the name and output of the node.
Node chained(GraphBuilder& builder, Node node) {
  const std::size_t count = node.inputs.size();
  const bool mean = node.op == Op::Mean;
  const Op op = mean ? Op::Sum : node.op;
  std::vector<TensorId> inputs(node.inputs.begin(), node.inputs.begin() + most_inputs_at_once);
  std::size_t next = most_inputs_at_once;
  std::size_t link = 0;
  const auto add_link = [&] {
    return builder.add(op, fmt::format("{}.{}", node.name, ++link), std::move(inputs), node.attributes);
  };
  while (next < count) {
    inputs = {add_link()};
    const std::size_t end = std::min(count, next + most_inputs_at_once - 1);
    inputs.insert(inputs.end(), node.inputs.begin() + static_cast<std::ptrdiff_t>(next),
                  node.inputs.begin() + static_cast<std::ptrdiff_t>(end));
    next = end;
  }
  if (mean) {
    const TensorId sum = add_link();
    inputs = {sum, builder.scalar(builder.type(sum), 1 / static_cast<double>(count))};
  }
  node.op = mean ? Op::Mul : op;
  node.inputs = std::move(inputs);
  return node;
}

}  // namespace

Expected<Graph> with_few_inputs(Graph graph, std::vector<std::string>& notes) {
  const auto wide = static_cast<std::size_t>(std::ranges::count_if(graph.nodes(), is_wide));
  if (wide == 0) return graph;
  const Node first = *std::ranges::find_if(graph.nodes(), is_wide);
  const std::vector<Node> nodes = graph.nodes();
  GraphBuilder builder(std::move(graph));
  builder.edit().set_nodes({});
  for (const Node& node : nodes) {
    builder.set_phase(node.phase, node.recomputed);
    builder.set_role(builder.graph()[node.outputs.front()].role);
    builder.edit().add_node(is_wide(node) ? chained(builder, node) : node);
  }
  notes.push_back(fmt::format("{} of more than {} inputs {} as chains of operators of as many: {} of {} inputs '{}'{}",
                              wide == 1 ? "1 operator" : fmt::format("{} operators", wide), most_inputs_at_once,
                              wide == 1 ? "runs" : "run", name_of(first.op), first.inputs.size(), first.name,
                              wide > 1 ? ", …" : ""));
  return builder.finish();
}

}  // namespace monet
