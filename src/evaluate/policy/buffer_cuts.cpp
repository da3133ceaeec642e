#include "evaluate/policy/buffer_cuts.h"

#include <algorithm>

namespace monet {

BufferCuts::BufferCuts(const Graph& graph, const TilingGraph& tiling) : graph_(graph), tiling_(tiling) {
  first_axis_.reserve(graph.tensors().size());
  std::uint32_t axes = 0;
  for (const Tensor& tensor : graph.tensors()) {
    first_axis_.push_back(axes);
    axes += static_cast<std::uint32_t>(tensor.type.shape.size());
  }
  buffers_.assign(axes, 1);
}

void BufferCuts::add(NodeId node, std::span<const LoopCut> cuts) {
  if (cuts.empty()) return;
  const auto cut = [&](const LoopsAlong& along) {
    std::int64_t* buffers = buffers_.data() + first_axis_[along.tensor.index()];
    for (std::size_t axis = 0; axis < along.loops.size(); ++axis) {
      const auto found = std::ranges::find(cuts, along.loops[axis], &LoopCut::loop);
      if (found != cuts.end()) buffers[axis] = std::max(buffers[axis], found->pieces);
    }
  };
  for (const LoopsAlong& along : tiling_.written_along(node)) cut(along);
  // What the step begins with is cut as its readers are, but for updates.
  for (const LoopsAlong& along : tiling_.read_along(node)) {
    if (!graph_[along.tensor].producer.valid() && graph_[node].phase != Phase::optimizer) cut(along);
  }
}

BufferCuts::Meetings BufferCuts::meetings(NodeId node) const {
  Meetings result;
  for (const LoopsAlong& along : tiling_.read_along(node)) {
    std::vector<Meetings::Axis>& axes = result.reads_.emplace_back();
    const std::int64_t* buffers = buffers_.data() + first_axis_[along.tensor.index()];
    for (std::size_t axis = 0; axis < along.loops.size(); ++axis) {
      if (along.loops[axis] || buffers[axis] > 1) axes.push_back({along.loops[axis], buffers[axis]});
    }
  }
  return result;
}

std::int64_t BufferCuts::Meetings::operator()(std::span<const LoopSize> pieces) const {
  std::int64_t all = 0;
  for (const std::vector<Axis>& axes : reads_) {
    std::int64_t meet = 1;
    for (const Axis& axis : axes) {
      const auto found = std::ranges::find(pieces, axis.loop, [](const LoopSize& p) { return std::optional(p.loop); });
      meet *= std::max(axis.buffers, found == pieces.end() ? 1 : found->size);
    }
    // Pieces along loops that the tensor does not have read the same of it.
    for (const LoopSize& piece : pieces) {
      if (std::ranges::find(axes, std::optional(piece.loop), &Axis::loop) == axes.end()) meet *= piece.size;
    }
    all += meet;
  }
  return all;
}

}  // namespace monet
