#include "evaluate/check/makers.h"
#include "evaluate/check/rules.h"

#include <algorithm>

namespace monet::check {

namespace {

// Bounds and pieces that a cut stands for: pieces of nearly equal size, the first ones larger by one, each in tiles.
void expected_axis(const LoopCut& cut, std::int64_t size, GridAxis& axis) {
  axis.bounds = {0};
  axis.piece.clear();
  for (std::int64_t piece = 0; piece < cut.pieces; ++piece) {
    const std::int64_t end = axis.bounds.back() + size / cut.pieces + (piece < size % cut.pieces ? 1 : 0);
    const std::int64_t step = cut.tile > 0 ? cut.tile : end - axis.bounds.back();
    do {
      axis.bounds.push_back(std::min(end, axis.bounds.back() + step));
      axis.piece.push_back(static_cast<std::uint32_t>(piece));
    } while (axis.bounds.back() < end);
  }
}

class Grids {
 public:
  explicit Grids(const CheckContext& context) : context_(context), tiles_(context.tiles), findings_(context.findings) {}

  void run() {
    std::size_t next = 0;
    for (std::size_t i = 0; i < tiles_.operators.size(); ++i) {
      const NodeId node(i);
      const OperatorTiles& grid = tiles_.operators[i];
      const std::string& name = context_.graph[node].name;
      if (context_.is_view(node)) {
        if (grid.count != 0) findings_.add("{} is a view and has {} tiles", name, grid.count);
        continue;
      }
      if (grid.first != next || grid.count == 0 || grid.count > tiles_.tiles() - next) {
        findings_.add("{} has {} tiles from {} on, where {} of {} are taken", name, grid.count, grid.first, next,
                      tiles_.tiles());
        return;
      }
      next += grid.count;
      const std::size_t before = findings_.count();
      check_axes(node, grid);
      if (findings_.count() == before) check_tiles(node, grid);
    }
    if (next != tiles_.tiles())
      findings_.add("{} of {} tiles belong to no operator", tiles_.tiles() - next, tiles_.tiles());
    for (std::size_t i = 0; i < context_.graph.tensors().size(); ++i) check_given(TensorId(i));
  }

 private:
  void check_axes(NodeId node, const OperatorTiles& grid) {
    const std::string& name = context_.graph[node].name;
    const OperatorAssignment& plan = context_.assignment.operators[node.index()];
    std::uint64_t product = 1;
    bool reducing = false;
    for (const GridAxis& axis : grid.axes) {
      product = std::min<std::uint64_t>(product * axis.count(), std::uint64_t{1} << 40);
      if (reducing && !axis.reduces) findings_.add("{}: its axes that add up do not come last", name);
      reducing |= axis.reduces;
      const auto same = [&](const GridAxis& other) { return other.loop == axis.loop; };
      if (std::ranges::count_if(grid.axes, same) != 1) {
        findings_.add("{} is cut twice along {}", name, name_of(axis.loop));
        continue;
      }
      check_axis(node, axis, plan);
    }
    if (product != grid.count) findings_.add("{} has {} tiles and a grid of {}", name, grid.count, product);
    std::uint64_t pieces = 1;
    for (const LoopCut& cut : plan.cuts) {
      const auto of_cut = [&](const GridAxis& axis) { return axis.loop == cut.loop; };
      const bool cuts = cut.pieces > 1 || cut.tile > 0;
      if (cuts && std::ranges::none_of(grid.axes, of_cut)) {
        const std::int64_t size = loop_size(node, cut.loop);
        if (cut.pieces > 1 || cut.tile < size) {
          findings_.add("{} is not cut along {}, as the plan says", name, name_of(cut.loop));
        }
      }
      pieces = std::min<std::uint64_t>(pieces * static_cast<std::uint64_t>(std::max<std::int64_t>(cut.pieces, 1)),
                                       std::uint64_t{1} << 40);
    }
    if (pieces != plan.cores.size()) {
      findings_.add("{} is split into {} pieces and has {} cores", name, pieces, plan.cores.size());
    }
  }

  std::int64_t loop_size(NodeId node, Dim loop) const {
    for (const Loop& own : context_.nests[node.index()].nests.front().loops) {
      if (own.name == loop) return own.size;
    }
    return 0;
  }

  // Every tile along the axis may do it for itself: it leaves nothing behind, or makes of a sum what it may make of
  // parts.
  static bool may_be_repeated(const Nest& nest, const GridAxis& axis) {
    if (nest.proportional) return axis.reduces;
    return std::ranges::none_of(
        nest.writes, [](const Access& write) { return write.kind == OperandKind::output || write.accumulate; });
  }

  void check_axis(NodeId node, const GridAxis& axis, const OperatorAssignment& plan) {
    const std::string& name = context_.graph[node].name;
    const std::string loop = name_of(axis.loop);
    const bool shape_right = !axis.piece.empty() && axis.bounds.size() == axis.piece.size() + 1;
    const std::int64_t size = shape_right ? axis.bounds.back() : 0;
    const auto ascending = [](std::int64_t a, std::int64_t b) { return a >= b; };
    const bool one_empty = axis.count() == 1 && size == 0;
    if (!shape_right || axis.bounds.front() != 0 ||
        (!one_empty && std::ranges::adjacent_find(axis.bounds, ascending) != axis.bounds.end())) {
      findings_.add("{}: its tiles along {} do not follow each other from 0 on", name, loop);
      return;
    }
    for (const Nest& nest : context_.nests[node.index()].nests) {
      // What is done once may be done by every tile for itself.
      if (points(nest) == 1) continue;
      const auto found = std::ranges::find(nest.loops, axis.loop, &Loop::name);
      if (found == nest.loops.end()) {
        if (axis.count() > 1 && !may_be_repeated(nest, axis))
          findings_.add("{} is cut along {}, which not all of its nests have", name, loop);
      } else if (found->size != size) {
        findings_.add("{}: its tiles along {} cover {} of {} iterations", name, loop, size, found->size);
      }
    }
    const auto cut = std::ranges::find(plan.cuts, axis.loop, &LoopCut::loop);
    GridAxis expected;
    expected_axis(cut == plan.cuts.end() ? LoopCut{.loop = axis.loop} : *cut, size, expected);
    if (expected.bounds != axis.bounds || expected.piece != axis.piece) {
      findings_.add("{}: its tiles along {} are not those of the plan", name, loop);
    }
  }

  void check_tiles(NodeId node, const OperatorTiles& grid) {
    const Node& of = context_.graph[node];
    const std::uint32_t chain = context_.chain_tiles[node.index()];
    for (std::size_t i = 0; i < grid.count; ++i) {
      const TileId tile(grid.first + i);
      if (tiles_.node[tile.index()] != node) {
        findings_.add("tile {} is one of {} and says that it belongs to {}", tile.index(), of.name,
                      context_.graph[tiles_.node[tile.index()]].name);
        return;
      }
      check_writes(of, tile, i / chain, i % chain == 0, (i + 1) % chain == 0);
    }
    for (std::size_t output = 0; output < of.outputs.size(); ++output) {
      if (of.outputs[output].valid()) check_made(node, output);
    }
  }

  void check_writes(const Node& node, TileId tile, std::size_t number, bool first, bool last) {
    std::size_t wanted = 0;
    const auto writes = tiles_.writes_of(tile);
    for (std::size_t output = 0; output < node.outputs.size(); ++output) {
      if (!node.outputs[output].valid()) continue;
      ++wanted;
      const BufferId buffer = context_.made_by(node.outputs[output], number);
      const auto right = [&](const TileWrite& write) {
        return write.output == output && write.buffer == buffer && write.adds == !first && write.final == last;
      };
      if (std::ranges::count_if(writes, right) != 1) {
        findings_.add("{} does not write its part of {} as its place in the grid says", context_.name(tile),
                      context_.graph[node.outputs[output]].name);
      }
    }
    if (writes.size() != wanted) {
      findings_.add("{} writes {} buffers for {} results", context_.name(tile), writes.size(), wanted);
    }
  }

  void check_made(NodeId node, std::size_t output) {
    const TensorId tensor = context_.graph[node].outputs[output];
    const OperatorTiles& grid = tiles_.operators[node.index()];
    const std::uint32_t chain = context_.chain_tiles[node.index()];
    const auto buffers = context_.buffers_of(tensor);
    const std::string& name = context_.graph[tensor].name;
    if (buffers.size() != grid.count / chain) {
      findings_.add("{} has {} buffers where its makers write {}", name, buffers.size(), grid.count / chain);
      return;
    }
    const Makers makers(context_, node, OperandKind::output, output);
    for (std::size_t axis = 0; axis < grid.axes.size(); ++axis) {
      if (grid.axes[axis].count() == 1 || makers.follows(axis) != grid.axes[axis].reduces) continue;
      findings_.add("{}: tiles along {} {} the same elements of {}", context_.graph[node].name,
                    name_of(grid.axes[axis].loop), grid.axes[axis].reduces ? "do not add to" : "make", name);
      return;
    }
    const bool whole = context_.has_even_width(tensor);
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      const BufferId id = context_.made_by(tensor, i);
      const TileId last(grid.first + (i + 1) * chain - 1);
      if (!id.valid() || tiles_.buffers[id.index()].tensor != tensor || tiles_.buffers[id.index()].maker != last) {
        findings_.add("buffer {} of {} names another tensor or maker", i, name);
        continue;
      }
      const auto elements = makers.elements(i);
      if (!elements || !whole) continue;
      const std::int64_t bytes = context_.bytes_of(tensor, *elements);
      if (bytes != tiles_.buffers[id.index()].bytes) {
        findings_.add("buffer {} of {} has {} bytes where its elements take {}", i, name,
                      tiles_.buffers[id.index()].bytes, bytes);
      }
    }
    check_total(tensor);
  }

  void check_given(TensorId tensor) {
    const Tensor& of = context_.graph[tensor];
    const auto buffers = context_.buffers_of(tensor);
    if (of.producer.valid()) {
      if (context_.is_view(of.producer) && !buffers.empty()) findings_.add("{} is a view and has buffers", of.name);
      return;
    }
    for (const Buffer& buffer : buffers) {
      if (buffer.tensor != tensor || buffer.maker.valid()) {
        findings_.add("a buffer of {}, with which the step begins, names another tensor or a maker", of.name);
      }
    }
    if (!buffers.empty()) check_total(tensor);
  }

  // All buffers together are the tensor; each may be rounded up to a byte, and to whole groups that share a scale.
  void check_total(TensorId tensor) {
    const Tensor& of = context_.graph[tensor];
    std::int64_t total = 0;
    for (const Buffer& buffer : context_.buffers_of(tensor)) total += buffer.bytes;
    const std::int64_t least = context_.bytes_of(tensor, element_count(of.type.shape));
    const auto rounded = static_cast<std::int64_t>(context_.buffers_of(tensor).size());
    if (total < least || (context_.has_even_width(tensor) && total > least + rounded)) {
      findings_.add("the buffers of {} have {} bytes together, its elements {}", of.name, total, least);
    }
  }

  const CheckContext& context_;
  const TileGraph& tiles_;
  Findings& findings_;
};

}  // namespace

void check_grids(const CheckContext& context) { Grids(context).run(); }

}  // namespace monet::check
