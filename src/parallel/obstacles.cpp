// What nests do not say: results that depend on how long a loop is, or on where in it a point lies.
#include "parallel/cut.h"

#include <fmt/format.h>

#include <algorithm>

namespace monet::parallel {

namespace {

bool sharded_at(const std::vector<Place>& places, std::size_t operand, std::int64_t axis) {
  return operand < places.size() && places[operand].is_sharded() && std::cmp_equal(places[operand].axis, axis);
}

bool sharded_elsewhere(const std::vector<Place>& places, std::size_t operand, std::int64_t axis) {
  return operand < places.size() && places[operand].is_sharded() && !std::cmp_equal(places[operand].axis, axis);
}

bool is_mean(const Node& node) {
  return node.attributes.has(Attr::reduction) && node.attributes.text(Attr::reduction) == "mean";
}

bool numbers_places(const Node& node) {
  return node.op != Op::MaxPool || (node.outputs.size() > 1 && node.outputs[1].valid());
}

// Whether a scale belongs to more than one chip's part.
bool shares_scales(const Format& format) { return format.is_scaled() || format.tensor_scale_bits > 0; }

}  // namespace

std::string obstacle(const Graph& graph, const Node& node, const Cut& cut) {
  switch (node.op) {
    case Op::BatchNormalizationGrad:
      if (sharded_elsewhere(cut.inputs, 1, 1)) return "it divides by the number of elements of a channel";
      break;
    case Op::SoftmaxCrossEntropyLoss:
    case Op::NegativeLogLikelihoodLoss:
    case Op::MeanSquaredErrorLoss:
    case Op::MeanSquaredErrorLossGrad:
    case Op::BinaryCrossEntropyLoss:
    case Op::BinaryCrossEntropyLossGrad:
      if (is_mean(node)) return "it divides by the number of all elements";
      break;
    case Op::SoftmaxCrossEntropyLossGrad:
      if (is_mean(node)) return "it divides by the number of all labels";
      if (sharded_at(cut.inputs, 1, node.attributes.integer_or(Attr::axis, 1)))
        return "labels number the classes of all chips";
      break;
    case Op::Trilu: {
      const auto rank = static_cast<std::int64_t>(graph[node.inputs[0]].type.shape.size());
      if (sharded_at(cut.inputs, 0, rank - 1) || sharded_at(cut.inputs, 0, rank - 2))
        return "its triangle is that of the whole matrix";
      break;
    }
    case Op::OneHot:
      if (sharded_at(cut.outputs, 0, node.attributes.integer(Attr::axis))) return "indices number the whole axis";
      break;
    case Op::Attention:
    case Op::AttentionGrad: {
      const std::size_t query = node.op == Op::Attention ? 0 : 1;
      const bool causal = node.attributes.integer_or(Attr::is_causal, 0) != 0;
      if (causal && !numbers_query_rows(node, cut.inputs) &&
          (sharded_at(cut.inputs, query, 2) || sharded_at(cut.inputs, query + 1, 2)))
        return "its causal mask is that of the whole sequence";
      break;
    }
    case Op::MaxPool:
    case Op::MaxPoolGrad:
    case Op::MaxUnpool:
      // Of batch and channels alone every chip numbers its own.
      if (numbers_places(node) && cut.inputs[0].is_sharded() && cut.inputs[0].axis > 1)
        return "places of its maxima are numbered over whole images";
      break;
    case Op::Adam8bitUpdate: return "its blocks of numbers lie across the pieces";
    case Op::Range:
    case Op::EyeLike: return "its values depend on the place";
    case Op::Quantize: return "its scales are those of whole groups of numbers";
    default: break;
  }
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i].valid() && cut.outputs[i].is_sharded() && shares_scales(graph[node.outputs[i]].type.format))
      return "groups of numbers with one scale could lie across the pieces";
  }
  return {};
}

namespace {

bool all_partial(const std::vector<Place>& places) {
  return std::ranges::all_of(places, [&](const Place& p) { return p.is_partial() && p.reduction == Reduction::sum; });
}

Cut passing(const Node& node, const std::vector<Place>& inputs) {
  Cut cut = whole_cut(node);
  cut.inputs = inputs;
  for (std::size_t i = 0; i < cut.outputs.size(); ++i) {
    if (node.outputs[i].valid()) cut.outputs[i] = Place::partial();
  }
  return cut;
}

}  // namespace

std::optional<Cut> through_linear(const Graph& graph, const Node& node, const std::vector<Place>& inputs) {
  if (inputs.empty()) return std::nullopt;
  const bool only_sums = std::ranges::all_of(inputs, [](const Place& p) { return p.reduction == Reduction::sum; });
  if (!only_sums) return std::nullopt;
  const auto is_number = [&](std::size_t i) { return element_count(graph[node.inputs[i]].type.shape) == 1; };
  switch (node.op) {
    case Op::Add:
    case Op::Sub:
    case Op::Sum:
    case Op::Concat:
    case Op::Neg:
    case Op::Identity:
    case Op::Reshape:
    case Op::Transpose:
    case Op::Slice:
    case Op::Split:
    case Op::ReduceSum:
    case Op::AllGather:
    case Op::ReduceScatter:
    case Op::AllToAll:
      if (all_partial(inputs)) return passing(node, inputs);
      break;
    case Op::AllReduce:
      if (all_partial(inputs) && node.attributes.text(Attr::reduction) == "sum") return passing(node, inputs);
      break;
    case Op::GatherGrad:
      if (inputs[0].is_partial() && inputs[1].is_whole()) return passing(node, inputs);
      break;
    case Op::Cast:
      if (all_partial(inputs) && graph[node.outputs[0]].type.format.is_real()) return passing(node, inputs);
      break;
    case Op::Mul:
      if (inputs[0].is_whole() && inputs[1].is_partial() && is_number(0)) return passing(node, inputs);
      [[fallthrough]];
    case Op::Div:
      if (inputs[0].is_partial() && inputs[1].is_whole() && is_number(1)) return passing(node, inputs);
      break;
    default: break;
  }
  return std::nullopt;
}

}  // namespace monet::parallel
