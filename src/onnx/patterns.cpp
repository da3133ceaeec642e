#include "onnx/patterns.h"

#include "graph/compact.h"
#include "graph/op_writer.h"

#include <cmath>

namespace monet::onnx {

namespace {

constexpr std::int64_t most_written_elements = 1024;
constexpr double largest_exact_integer = 0x1p53;  // an operator's attribute is a double

bool is_spelt_out(const Constant& value) {
  if (value.pattern == Constant::Pattern::dense || element_count(value.shape) <= most_written_elements) return false;
  const auto* integers = std::get_if<std::vector<std::int64_t>>(&value.values);
  if (integers == nullptr) return true;
  for (std::int64_t integer : *integers) {
    if (std::abs(static_cast<double>(integer)) > largest_exact_integer) return false;
  }
  return true;
}

TensorId uniform(OpWriter& writer, const Constant& value) {
  return writer.fill(value.real_at(0), value.shape, value.type);
}

// The first value on and below the diagonal, the second above: a triangle chooses, in types that every runtime has.
TensorId banded(OpWriter& writer, const Constant& value) {
  const Shape matrix(value.shape.end() - 2, value.shape.end());
  const auto corner = [&](std::size_t i) {
    return std::visit([i](const auto& stored) { return static_cast<double>(stored[i]); }, value.values);
  };
  const TensorId ones = writer.fill(1, matrix, ElementType::int64);
  const TensorId triangle = writer.add(Op::Trilu, {ones}, {{Attr::upper, std::int64_t{0}}, {Attr::k, value.diagonal}});
  const ElementType chosen = value.type == ElementType::float64 ? ElementType::float64
                             : is_floating(value.type)          ? ElementType::float32
                                                                : ElementType::int64;
  GraphBuilder& builder = writer.builder();
  const TensorId choice = writer.where(writer.cast(triangle, ElementType::boolean), builder.scalar(chosen, corner(0)),
                                       builder.scalar(chosen, corner(1)));
  return writer.expand(writer.cast(choice, value.type), value.shape);
}

}  // namespace

Expected<Graph> spell_out_patterns(Graph graph) {
  std::vector<TensorId> patterned;
  for (std::size_t i = 0; i < graph.tensors().size(); ++i) {
    const Constant* value = graph.constant(TensorId(i));
    if (value != nullptr && is_spelt_out(*value)) patterned.emplace_back(i);
  }
  if (patterned.empty()) return graph;
  const std::vector<Node> nodes = graph.nodes();
  GraphBuilder builder(std::move(graph));
  builder.edit().set_nodes({});
  for (TensorId id : patterned) {
    const Constant value = builder.graph().constants.at(id);
    builder.edit().constants.erase(id);
    OpWriter writer(builder, builder.graph()[id].name);
    const TensorId made = value.pattern == Constant::Pattern::uniform ? uniform(writer, value) : banded(writer, value);
    // What was made takes the constant's place.
    if (builder.failed()) break;
    const NodeId last = builder.graph()[made].producer;
    builder.edit()[last].outputs = {id};
    builder.edit()[id].producer = last;
  }
  for (const Node& node : nodes) builder.edit().add_node(node);
  auto result = builder.finish();
  if (!result) return result;
  return compact(*std::move(result));
}

}  // namespace monet::onnx
