#include "parallel/cut.h"

namespace monet::parallel {

namespace {

// Rows of a table that indices name. Every chip finds those that it has: terms of what is found.
std::optional<Cut> rows_of_table(const Node& node, std::int64_t chips, const Seed& seed) {
  if (seed.output || seed.operand != 0 || !std::cmp_equal(seed.place.axis, node.attributes.integer(Attr::axis)))
    return std::nullopt;
  Cut cut = whole_cut(node);
  cut.inputs[0] = seed.place;
  cut.outputs[0] = Place::partial();
  set_own_places(cut.attributes, chips, seed.place.blocks);
  return cut;
}

// The gradient of a table: every chip adds up what belongs to its rows.
std::optional<Cut> rows_of_gradient(const Graph& graph, const Node& node, std::int64_t chips, const Seed& seed) {
  if (!seed.output || !std::cmp_equal(seed.place.axis, node.attributes.integer(Attr::axis))) return std::nullopt;
  Cut cut = whole_cut(node);
  cut.outputs[0] = seed.place;
  cut.attributes.set(Attr::shape, local_shape(graph[node.outputs[0]].type.shape, seed.place, chips));
  set_own_places(cut.attributes, chips, seed.place.blocks);
  return cut;
}

// What a mean divides by, and what smoothing gives every class, is known of all classes alone.
std::optional<Cut> classes_of_gradient(const Node& node, std::int64_t chips, const Seed& seed) {
  const bool plain = node.attributes.text(Attr::reduction) != "mean" &&
                     node.attributes.real_or(Attr::label_smoothing, 0) == 0 &&
                     (node.inputs.size() < 4 || !node.inputs[3].valid());
  const bool along_classes =
      !seed.output && seed.operand == 1 && std::cmp_equal(seed.place.axis, node.attributes.integer_or(Attr::axis, 1));
  if (!plain || !along_classes) return std::nullopt;
  Cut cut = whole_cut(node);
  cut.inputs[1] = cut.outputs[0] = seed.place;
  set_own_places(cut.attributes, chips, seed.place.blocks);
  return cut;
}

}  // namespace

void set_own_places(Attributes& attributes, std::int64_t chips, std::int64_t blocks) {
  attributes.set(Attr::mesh, std::string());
  attributes.set(Attr::group, chips);
  attributes.set(Attr::blocks, std::vector<std::int64_t>{blocks});
}

std::optional<Cut> cut_numbered(const Graph& graph, const Node& node, std::int64_t chips, const Seed& seed) {
  if (node.attributes.has(Attr::mesh)) return std::nullopt;
  switch (node.op) {
    case Op::Gather:
    case Op::GatherElements: return rows_of_table(node, chips, seed);
    case Op::GatherGrad: return rows_of_gradient(graph, node, chips, seed);
    case Op::SoftmaxCrossEntropyLossGrad: return classes_of_gradient(node, chips, seed);
    default: return std::nullopt;
  }
}

bool numbers_query_rows(const Node& node, const std::vector<Place>& inputs) {
  const bool attends = node.op == Op::Attention || node.op == Op::AttentionGrad;
  if (!attends || node.attributes.has(Attr::mesh) || node.attributes.integer_or(Attr::is_causal, 0) == 0) return false;
  const std::size_t query = node.op == Op::Attention ? 0 : 1;
  const Place& rows = inputs[query];
  return rows.is_sharded() && rows.axis == 2 && inputs[query + 1].is_whole() && inputs[query + 2].is_whole();
}

}  // namespace monet::parallel
