#include "interpret/own_places.h"

#include "base/try.h"
#include "interpret/ranks.h"

#include <optional>

namespace monet {

namespace {

using Axis = std::optional<std::size_t>;

// Of each operand, the axis that is numbered; nothing: it has none.
struct Numbered {
  std::vector<Axis> inputs, outputs;
};

// A mask's rows are those of the queries, unless there is one for all.
Axis rows_of_mask(const Graph& graph, const Node& node, std::size_t at, std::int64_t queries) {
  if (at >= node.inputs.size() || !node.inputs[at].valid()) return std::nullopt;
  const Shape& shape = graph[node.inputs[at]].type.shape;
  if (shape.size() < 2 || shape[shape.size() - 2] != queries) return std::nullopt;
  return shape.size() - 2;
}

Expected<Numbered> numbered_axes(const Graph& graph, const Node& node) {
  const auto axis = [&](Attr key, std::int64_t otherwise) {
    return static_cast<std::size_t>(node.attributes.integer_or(key, otherwise));
  };
  switch (node.op) {
    case Op::Gather:
    case Op::GatherElements: return Numbered{{axis(Attr::axis, 0)}, {}};
    case Op::GatherGrad: return Numbered{{}, {axis(Attr::axis, 0)}};
    case Op::SoftmaxCrossEntropyLossGrad: return Numbered{{{}, axis(Attr::axis, 1)}, {axis(Attr::axis, 1)}};
    case Op::Range: return Numbered{{}, {0}};
    case Op::Attention: {
      const Axis mask = rows_of_mask(graph, node, 3, graph[node.inputs[0]].type.shape[2]);
      return Numbered{{2, {}, {}, mask}, {2, 2}};
    }
    case Op::AttentionGrad: {
      const Axis mask = rows_of_mask(graph, node, 6, graph[node.inputs[1]].type.shape[2]);
      return Numbered{{2, 2, {}, {}, 2, 2, mask}, {2, {}, {}, mask}};
    }
    default:
      return Error{.kind = ErrorKind::defect,
                   .message = "it has places of its own, and numbers none",
                   .place = {},
                   .advice = {}};
  }
}

class OwnPlaces {
 public:
  OwnPlaces(const Graph& graph, const Node& node, std::int64_t coordinate, const RunOptions& options)
      : graph_(graph),
        node_(node),
        group_(node.attributes.integer(Attr::group)),
        coordinate_(coordinate),
        options_(options) {
    if (node.attributes.has(Attr::blocks)) blocks_ = node.attributes.integers(Attr::blocks)[0];
  }

  Expected<std::vector<Array>> run(std::span<const Array* const> inputs) const {
    MONET_TRY(Numbered axes, numbered_axes(graph_, node_));
    axes.inputs.resize(node_.inputs.size());
    axes.outputs.resize(node_.outputs.size());
    std::vector<Array> whole;
    std::vector<TensorType> types;
    whole.reserve(inputs.size());
    types.reserve(node_.inputs.size() + node_.outputs.size());
    std::vector<const Array*> values;
    std::vector<const TensorType*> input_types, output_types;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const bool padded = inputs[i] != nullptr && axes.inputs[i].has_value();
      if (padded) whole.push_back(among_zeros(*inputs[i], *axes.inputs[i]));
      values.push_back(padded ? &whole.back() : inputs[i]);
      input_types.push_back(whole_type(node_.inputs[i], axes.inputs[i], types));
    }
    for (std::size_t i = 0; i < node_.outputs.size(); ++i)
      output_types.push_back(whole_type(node_.outputs[i], axes.outputs[i], types));
    const Attributes attributes = whole_attributes(axes);
    MONET_TRY(std::vector<Array> results, execute({node_.op, attributes, values, input_types, output_types}));
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (axes.outputs[i] && node_.outputs[i].valid())
        results[i] = piece_of(results[i], *axes.outputs[i], blocks_, group_, coordinate_);
    }
    if (options_.rounds) round_results(graph_, node_, results, options_);
    return results;
  }

 private:
  Array among_zeros(const Array& own, std::size_t axis) const {
    const Array zeros = Array::zeros(own.shape);
    std::vector<const Array*> pieces(static_cast<std::size_t>(group_), &zeros);
    pieces[static_cast<std::size_t>(coordinate_)] = &own;
    return joined(pieces, axis, blocks_);
  }

  const TensorType* whole_type(TensorId id, const Axis& axis, std::vector<TensorType>& types) const {
    if (!id.valid()) return nullptr;
    types.push_back(graph_[id].type);
    if (axis) types.back().shape[*axis] *= group_;
    return &types.back();
  }

  Attributes whole_attributes(const Numbered& axes) const {
    Attributes attributes = node_.attributes;
    if (!attributes.has(Attr::shape) || axes.outputs.empty() || !axes.outputs[0]) return attributes;
    Shape shape = attributes.integers(Attr::shape);
    shape[*axes.outputs[0]] *= group_;
    attributes.set(Attr::shape, std::move(shape));
    return attributes;
  }

  const Graph& graph_;
  const Node& node_;
  std::int64_t group_, coordinate_, blocks_ = 1;
  const RunOptions& options_;
};

Node own_slice(const Node& node, std::int64_t coordinate) {
  Node own = node;
  std::vector<std::int64_t> starts = node.attributes.integers(Attr::starts);
  const auto along = static_cast<std::size_t>(node.attributes.integers(Attr::axes)[0]);
  starts[0] += coordinate * node.attributes.integers(Attr::shape)[along];
  own.attributes.set(Attr::starts, std::move(starts));
  return own;
}

}  // namespace

bool has_own_places(const Node& node) { return !is_collective(node.op) && node.attributes.has(Attr::mesh); }

Expected<std::vector<Array>> execute_own_places(const Graph& graph, const Node& node,
                                                std::span<const Array* const> inputs, std::int64_t coordinate,
                                                const RunOptions& options) {
  if (node.op == Op::Slice) return execute(graph, own_slice(node, coordinate), inputs, options);
  return OwnPlaces(graph, node, coordinate, options).run(inputs);
}

}  // namespace monet
