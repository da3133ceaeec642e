#include "interpret/interpret.h"

#include "base/random.h"
#include "base/try.h"

#include <fmt/format.h>

namespace monet {

Array Array::zeros(Shape shape) {
  const auto count = static_cast<std::size_t>(element_count(shape));
  return {std::move(shape), std::vector<double>(count, 0.0)};
}

Array to_array(const Constant& constant) {
  Array array = Array::zeros(constant.shape);
  for (std::size_t i = 0; i < array.values.size(); ++i)
    array.values[i] = constant.real_at(static_cast<std::int64_t>(i));
  return array;
}

IndexCounter::IndexCounter(std::span<const std::int64_t> shape)
    : shape_(shape.begin(), shape.end()), index_(shape.size(), 0), remaining_(element_count(shape)) {}

void IndexCounter::next() {
  --remaining_;
  for (std::size_t axis = index_.size(); axis-- > 0;) {
    if (++index_[axis] < shape_[axis]) return;
    index_[axis] = 0;
  }
}

std::int64_t offset(std::span<const std::int64_t> shape, std::span<const std::int64_t> index) {
  std::int64_t position = 0;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) position = position * shape[axis] + index[axis];
  return position;
}

std::int64_t broadcast_offset(std::span<const std::int64_t> operand, std::span<const std::int64_t> index) {
  const std::size_t lead = index.size() - operand.size();
  std::int64_t position = 0;
  for (std::size_t axis = 0; axis < operand.size(); ++axis) {
    position = position * operand[axis] + (operand[axis] == 1 ? 0 : index[lead + axis]);
  }
  return position;
}

namespace {

Expected<std::vector<Array>> execute_elementwise_quickly(const Execution& execution) {
  std::optional<Array> result = execute_arithmetic(execution);
  if (!result) return execute_elementwise(execution);
  std::vector<Array> results;
  results.push_back(*std::move(result));
  return results;
}

Expected<std::vector<Array>> execute_by_family(const Execution& execution) {
  if (is_composite(execution.op)) return execute_composite(execution);
  switch (family_of(execution.op)) {
    case OpFamily::elementwise: return execute_elementwise_quickly(execution);
    case OpFamily::contraction: return execute_contraction(execution);
    case OpFamily::convolution: return execute_convolution(execution);
    case OpFamily::pool: return execute_pool(execution);
    case OpFamily::reduction: return execute_reduction(execution);
    case OpFamily::softmax: return execute_softmax(execution);
    case OpFamily::norm: return execute_norm(execution);
    case OpFamily::view: return execute_view(execution);
    case OpFamily::movement: return execute_movement(execution);
    case OpFamily::generate: return execute_generate(execution);
    case OpFamily::collective:
      return Error{.message = fmt::format("{} needs the other chips of its group", name_of(execution.op)),
                   .place = {},
                   .advice = "run all chips in lock step (interpret/ranks.h)"};
    case OpFamily::custom:
      return Error{.message = fmt::format("what the custom operator '{}' computes is not known",
                                          execution.attributes.text(Attr::op_type)),
                   .place = {},
                   .advice = "export it as the standard operators that it consists of"};
    case OpFamily::optimizer: break;  // all composite
  }
  return Error{.kind = ErrorKind::defect, .message = "unknown operator family", .place = {}, .advice = {}};
}

std::uint64_t seed_of(const Node& node, const RunOptions& options) {
  return options.seed == 0 ? 0 : SeededRandom(options.seed ^ node.outputs[0].index()).next();
}

Expected<const Array*> value_of(const Graph& graph, TensorId id, Values& values) {
  if (const auto found = values.find(id); found != values.end()) {
    if (found->second.shape == graph[id].type.shape) return &found->second;
    return Error{.message = fmt::format("a value of {} is given for a tensor of {}", to_string(found->second.shape),
                                        to_string(graph[id].type.shape)),
                 .place = graph[id].name,
                 .advice = {}};
  }
  if (const Constant* constant = graph.constant(id)) return &values.emplace(id, to_array(*constant)).first->second;
  return Error{.message = "no value is given for this tensor", .place = graph[id].name, .advice = {}};
}

}  // namespace

Expected<std::vector<Array>> execute(const Execution& execution) {
  auto results = execute_by_family(execution);
  if (!results) return results;
  results->resize(execution.output_types.size());
  for (std::size_t i = 0; i < results->size(); ++i) {
    if (!execution.wants(i)) (*results)[i] = {};
  }
  return results;
}

Expected<std::vector<Array>> execute(const Graph& graph, const Node& node, std::span<const Array* const> inputs,
                                     const RunOptions& options) {
  std::vector<const TensorType*> input_types, output_types;
  for (TensorId id : node.inputs) input_types.push_back(id.valid() ? &graph[id].type : nullptr);
  for (TensorId id : node.outputs) output_types.push_back(id.valid() ? &graph[id].type : nullptr);
  Expected<std::vector<Array>> results = std::vector<Array>();
  if (options.rounds && node.op == Op::Quantize) {
    results->push_back(*inputs[0]);  // the rounding below is all that it does
  } else {
    results = execute({node.op, node.attributes, inputs, input_types, output_types, seed_of(node, options)});
  }
  if (!results) {
    Error error = std::move(results).error();
    error.place = fmt::format("node '{}'", node.name);
    return error;
  }
  if (options.rounds) round_results(graph, node, *results, options);
  return results;
}

Status run(const Graph& graph, Values& values, const RunOptions& options) {
  for (const Node& node : graph.nodes()) {
    std::vector<const Array*> inputs;
    for (TensorId id : node.inputs) {
      inputs.push_back(nullptr);
      if (!id.valid()) continue;
      MONET_TRY(inputs.back(), value_of(graph, id, values));
    }
    MONET_TRY(std::vector<Array> results, execute(graph, node, inputs, options));
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i].valid()) values.insert_or_assign(node.outputs[i], std::move(results[i]));
    }
  }
  return Done{};
}

}  // namespace monet
