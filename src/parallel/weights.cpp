#include "parallel/weights.h"

#include "parallel/cut.h"

namespace monet::parallel {

namespace {

constexpr int longest_chain = 8;  // of casts and views between a weight and its product

bool is_product(Op op) {
  return op == Op::MatMul || op == Op::Gemm || op == Op::Einsum || op == Op::Conv || op == Op::ConvTranspose;
}

bool passes_on(Op op) {
  return op == Op::Cast || op == Op::Identity || op == Op::Transpose || op == Op::Reshape || op == Op::Expand;
}

}  // namespace

Weights::Weights(const Graph& graph) : graph_(graph), is_input_(graph.inputs.begin(), graph.inputs.end()) {}

bool Weights::is_stored(TensorId id) const {
  return !graph_[id].producer.valid() && !is_input_.contains(id) && graph_.constant(id) == nullptr;
}

TensorId Weights::parameter_behind(TensorId id) const {
  for (int i = 0; i < longest_chain && id.valid(); ++i) {
    const NodeId producer = graph_[id].producer;
    if (!producer.valid()) return is_stored(id) ? id : TensorId();
    if (!passes_on(graph_[producer].op)) return {};
    id = graph_[producer].inputs[0];
  }
  return {};
}

TensorId Weights::origin(TensorId id) const {
  for (int i = 0; i < longest_chain; ++i) {
    const NodeId producer = graph_[id].producer;
    if (!producer.valid() || !passes_on(graph_[producer].op)) break;
    id = graph_[producer].inputs[0];
  }
  return id;
}

std::optional<std::size_t> Weights::weight_of(const Node& node) const {
  if (!is_product(node.op) || node.inputs.size() < 2) return std::nullopt;
  for (std::size_t i : {std::size_t{1}, std::size_t{0}}) {
    if (parameter_behind(node.inputs[i]).valid() && !parameter_behind(node.inputs[1 - i]).valid()) return i;
  }
  return std::nullopt;
}

std::optional<Place> Weights::place_behind(TensorId parameter, TensorId used, const Place& wanted,
                                           std::int64_t chips) const {
  const Shape& shape = graph_[parameter].type.shape;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    for (const std::int64_t blocks : {wanted.blocks, std::int64_t{1}}) {
      const Place place = Place::sharded(axis, blocks);
      if (fits(shape, place, chips) && place_after(parameter, used, place, chips) == wanted) return place;
    }
  }
  return std::nullopt;
}

std::optional<Place> Weights::place_after(TensorId parameter, TensorId used, const Place& place,
                                          std::int64_t chips) const {
  if (parameter == used) return place;
  const Node& node = graph_[graph_[used].producer];
  const auto before = place_after(parameter, node.inputs[0], place, chips);
  if (!before) return std::nullopt;
  const auto own = cut(graph_, node, chips, {.operand = 0, .place = *before});
  if (!own) return std::nullopt;
  return own->outputs[0];
}

}  // namespace monet::parallel
