#include "kernels/lower/split_gradient.h"

#include <algorithm>

namespace monet::lowering {

namespace {

struct Piece {
  std::size_t axis = 0;
  std::int64_t begin = 0, size = 0;
  NodeId node;
};

// Zeros along one axis alone.
std::optional<Piece> piece_of(const Graph& graph, NodeId id) {
  const Node& node = graph[id];
  if (node.op != Op::Pad) return std::nullopt;
  const auto& pads = node.attributes.integers(Attr::pads);
  const Shape& from = graph[node.inputs[0]].type.shape;
  const std::size_t rank = from.size();
  if (pads.size() != 2 * rank) return std::nullopt;
  std::optional<Piece> found;
  for (std::size_t i = 0; i < rank; ++i) {
    if (pads[i] == 0 && pads[rank + i] == 0) continue;
    if (found || pads[i] < 0 || pads[rank + i] < 0) return std::nullopt;
    found = Piece{i, pads[i], from[i], id};
  }
  return found;
}

}  // namespace

std::optional<std::vector<NodeId>> pieces_of_sum(const Graph& graph, const Readers& readers, const Node& sum) {
  std::vector<Piece> pieces;
  for (TensorId input : sum.inputs) {
    const NodeId made = graph[input].producer;
    if (!made.valid() || readers.of(input).size() != 1) return std::nullopt;
    const auto piece = piece_of(graph, made);
    if (!piece || (!pieces.empty() && piece->axis != pieces[0].axis)) return std::nullopt;
    pieces.push_back(*piece);
  }
  std::ranges::sort(pieces, {}, &Piece::begin);
  std::int64_t end = 0;
  std::vector<NodeId> nodes;
  for (const Piece& piece : pieces) {
    if (piece.begin != end) return std::nullopt;
    end += piece.size;
    nodes.push_back(piece.node);
  }
  const Shape& whole = graph[sum.outputs[0]].type.shape;
  if (pieces.empty() || end != whole[pieces[0].axis]) return std::nullopt;
  return nodes;
}

std::size_t axis_of_piece(const Graph& graph, NodeId piece) { return piece_of(graph, piece)->axis; }

}  // namespace monet::lowering
