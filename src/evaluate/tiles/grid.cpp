#include "evaluate/tiles/grid.h"

#include "base/checked.h"
#include "base/try.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace monet::tiling {

namespace {

Error error_at(const Node& node, std::string message, std::string advice) {
  return {.kind = ErrorKind::user, .message = std::move(message), .place = node.name, .advice = std::move(advice)};
}

std::string loops_text(const Cuttable& cuttable) {
  std::vector<std::string> names;
  for (const CuttableLoop& loop : cuttable.loops)
    names.push_back(fmt::format("{} ({})", name_of(loop.loop.name), loop.loop.size));
  return names.empty() ? "it can be cut along no loop" : fmt::format("it can be cut along {}", fmt::join(names, ", "));
}

// The size of a loop that cannot be cut, if there is one of that name.
std::optional<std::int64_t> uncuttable_size(const Graph& graph, const Node& node, Dim name) {
  for (const Nest& nest : nests_of(site_of(graph, node)).nests) {
    for (const Loop& loop : nest.loops) {
      if (loop.name == name) return loop.size;
    }
  }
  return std::nullopt;
}

Status check_sizes(const Node& node, const LoopCut& cut, std::int64_t size) {
  const auto misfit = [&](std::string_view what, std::int64_t number) -> Error {
    return error_at(node,
                    fmt::format("{} of {} does not fit the loop {}, which has {} iterations", what, number,
                                name_of(cut.loop), size),
                    fmt::format("use a number from 1 to {}", size));
  };
  if (cut.tile < 0 || cut.tile > size) return misfit("a tile", cut.tile);
  if (cut.pieces < 1 || cut.pieces > size) return misfit("a split into pieces", cut.pieces);
  return Done{};
}

std::int64_t tiles_along(const LoopCut& cut, std::int64_t size) {
  const std::int64_t larger = size % cut.pieces;
  const std::int64_t length = size / cut.pieces;
  if (cut.tile == 0) return cut.pieces;
  return larger * ceil_divide(length + 1, cut.tile) + (cut.pieces - larger) * ceil_divide(length, cut.tile);
}

GridAxis axis_of(const LoopCut& cut, const CuttableLoop& loop, std::int64_t count) {
  GridAxis axis{.loop = cut.loop, .bounds = {}, .piece = {}, .reduces = loop.reduces};
  axis.bounds.reserve(static_cast<std::size_t>(count) + 1);
  axis.piece.reserve(static_cast<std::size_t>(count));
  const std::int64_t larger = loop.loop.size % cut.pieces;
  const std::int64_t length = loop.loop.size / cut.pieces;
  std::int64_t at = 0;
  for (std::int64_t piece = 0; piece < cut.pieces; ++piece) {
    const std::int64_t end = at + length + (piece < larger ? 1 : 0);
    const std::int64_t tile = cut.tile == 0 ? end - at : cut.tile;
    for (; at < end; at = std::min(end, at + tile)) {
      axis.bounds.push_back(at);
      axis.piece.push_back(static_cast<std::uint32_t>(piece));
    }
  }
  axis.bounds.push_back(at);
  return axis;
}

}  // namespace

Expected<Grid> grid_of(const Graph& graph, NodeId id, std::span<const LoopCut> cuts, const Cuttable& cuttable,
                       std::int64_t limit) {
  Grid grid;
  if (cuts.empty()) return grid;
  const Node& node = graph[id];
  std::int64_t pieces = 1;
  for (std::size_t i = cuts.size(); i-- > 0;) {
    const LoopCut& cut = cuts[i];
    if (std::ranges::count(cuts, cut.loop, &LoopCut::loop) > 1) {
      return error_at(node, fmt::format("the loop {} is cut twice", name_of(cut.loop)), "cut it once");
    }
    const auto found = std::ranges::find(cuttable.loops, cut.loop, [](const CuttableLoop& l) { return l.loop.name; });
    if (found == cuttable.loops.end()) {
      const auto size = uncuttable_size(graph, node, cut.loop);
      if (!size) return error_at(node, fmt::format("it has no loop {}", name_of(cut.loop)), loops_text(cuttable));
      MONET_RETURN_IF_ERROR(check_sizes(node, cut, *size));
      if (tiles_along(cut, *size) == 1) continue;
      return error_at(node, fmt::format("{} cannot be cut along {}", name_of(node.op), name_of(cut.loop)),
                      loops_text(cuttable));
    }
    MONET_RETURN_IF_ERROR(check_sizes(node, cut, found->loop.size));
    const std::int64_t count = tiles_along(cut, found->loop.size);
    if (count > limit / grid.tiles) {
      return error_at(node, fmt::format("it would be cut into more than {} tiles", limit), "use larger tiles");
    }
    if (count == 1) continue;
    grid.tiles *= count;
    GridAxis axis = axis_of(cut, *found, count);
    axis.piece_step = static_cast<std::uint32_t>(pieces);
    pieces *= cut.pieces;
    grid.axes.insert(grid.axes.begin(), std::move(axis));
    grid.loops.insert(grid.loops.begin(), static_cast<std::uint8_t>(found - cuttable.loops.begin()));
  }
  // As the axes of the result, whatever the order of the cuts, so that tiles and buffers are numbered alike; those that
  // reduce come last.
  const auto place = [&](std::size_t axis) {
    const auto& axes = cuttable.outputs.front().axes;
    const auto found = std::ranges::find(axes, grid.loops[axis], &WrittenAxis::loop) - axes.begin();
    return std::pair(grid.axes[axis].reduces, found);
  };
  for (std::size_t i = 1; i < grid.axes.size(); ++i) {
    for (std::size_t k = i; k > 0 && place(k) < place(k - 1); --k) {
      std::swap(grid.axes[k - 1], grid.axes[k]);
      std::swap(grid.loops[k - 1], grid.loops[k]);
    }
  }
  return grid;
}

}  // namespace monet::tiling
