// Grids of all operators, and from them where every stored tensor is cut.
#include "evaluate/tiles/content.h"

#include "base/checked.h"
#include "base/try.h"
#include "evaluate/tiles/group_elements.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

namespace monet::tiling {

namespace {

class CellMaker {
 public:
  CellMaker(const GraphContent& content, PlanCells& plan) : content_(content), graph_(content.graph), plan_(plan) {
    plan_.axes.assign(content.first_axis.back(), {});
    plan_.cut.assign(graph_.tensors().size(), 0);
  }

  // What a node writes is cut as its grid is.
  void cut_outputs(NodeId id) {
    const PlannedNode& planned = plan_.nodes[id.index()];
    if (planned.cut == 0) return;
    for (const WrittenOutput& written : content_.nodes[id.index()]->cuttable.outputs) {
      if ((written.follows & planned.cut) == 0) continue;
      const TensorId tensor = graph_[id].outputs[written.output];
      const Shape& shape = graph_[tensor].type.shape;
      for (std::size_t axis = 0; axis < shape.size(); ++axis) {
        const auto found = std::ranges::find(planned.loops, written.axes[axis].loop);
        if (found == planned.loops.end()) continue;
        const auto number = static_cast<std::size_t>(found - planned.loops.begin());
        set(tensor, axis, block_bounds(written.axes[axis], plan_.operators[id.index()].axes[number], shape[axis]));
      }
    }
  }

  // What the step begins with is cut where its readers begin, along each axis as the one with most tiles there does;
  // into no more buffers than there are tiles that read it. An update in more tiles than others have reads parts.
  void cut_source(TensorId id) {
    const Shape& shape = graph_[id].type.shape;
    std::int64_t readers = 0;
    bool any = false;
    std::uint32_t tiles_of_updates = 0, tiles_of_others = 0;
    for (const SiteRef& reader : readers_of(id)) {
      std::uint32_t& most = is_update(reader) ? tiles_of_updates : tiles_of_others;
      most = std::max(most, plan_.operators[reader.node.index()].count);
    }
    skips_updates_ = tiles_of_others > 0 && tiles_of_updates > tiles_of_others;
    for (const SiteRef& reader : readers_of(id)) {
      if (skips_updates_ && is_update(reader)) continue;
      readers += plan_.operators[reader.node.index()].count;
      any = any || (site(reader).loops & plan_.nodes[reader.node.index()].cut) != 0;
    }
    if (!any) return;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      if (shape[axis] > 1) cut_source_axis(id, axis);
    }
    AxisCells* cells = axes_of(id);
    while (true) {
      std::int64_t total = 1;
      std::size_t fewest = shape.size();
      for (std::size_t axis = 0; axis < shape.size(); ++axis) {
        if (cells[axis].count == 1) continue;
        total = std::min(total, std::numeric_limits<std::int32_t>::max() + std::int64_t{0}) * cells[axis].count;
        if (fewest == shape.size() || cells[axis].count <= cells[fewest].count) fewest = axis;
      }
      if (total <= readers) break;
      cells[fewest] = {};
    }
  }

 private:
  std::span<const SiteRef> readers_of(TensorId id) const {
    const std::uint32_t first = content_.first_reader[id.index()];
    return std::span(content_.readers).subspan(first, content_.first_reader[id.index() + 1] - first);
  }
  bool is_update(const SiteRef& reader) const { return graph_[reader.node].phase == Phase::optimizer; }
  const ReadSite& site(const SiteRef& reader) const { return content_.nodes[reader.node.index()]->reads[reader.site]; }
  AxisCells* axes_of(TensorId id) { return plan_.axes.data() + content_.first_axis[id.index()]; }

  void set(TensorId id, std::size_t axis, std::span<const std::int64_t> bounds) {
    axes_of(id)[axis] = {.bounds = bounds.data(), .count = static_cast<std::uint32_t>(bounds.size() - 1), .step = 0};
  }

  std::span<const std::int64_t> block_bounds(const WrittenAxis& written, const GridAxis& grid, std::int64_t size) {
    if (written.scale == 1 && written.offset == 0 && grid.bounds.back() == size) return grid.bounds;
    std::vector<std::int64_t>& bounds = plan_.bounds.emplace_back();
    bounds.reserve(grid.bounds.size());
    for (std::int64_t bound : grid.bounds) {
      bounds.push_back(std::clamp<std::int64_t>(written.scale * bound + written.offset, 0, size));
    }
    bounds.front() = 0;
    bounds.back() = size;
    return bounds;
  }

  // The group of a site that is about this axis alone.
  static const ReadGroup* group_along(const ReadSite& site, std::size_t axis) {
    for (const ReadGroup& group : site.groups) {
      if (group.axes.size() == 1 && group.axes[0] == axis) return &group;
    }
    return nullptr;
  }

  std::int64_t rows_of(const ReadGroup& group, NodeId node) const {
    const PlannedNode& planned = plan_.nodes[node.index()];
    std::int64_t rows = 1;
    for (std::size_t i = 0; i < planned.loops.size(); ++i) {
      if ((group.loops >> planned.loops[i] & 1U) == 0) continue;
      rows *= static_cast<std::int64_t>(plan_.operators[node.index()].axes[i].count());
    }
    return rows;
  }

  void cut_source_axis(TensorId id, std::size_t axis) {
    std::int64_t most = 1;
    const ReadGroup* group = nullptr;
    NodeId node;
    for (const SiteRef& reader : readers_of(id)) {
      const ReadSite& read = site(reader);
      if (skips_updates_ && is_update(reader)) continue;
      if ((read.loops & plan_.nodes[reader.node.index()].cut) == 0) continue;
      const ReadGroup* candidate = group_along(read, axis);
      if (candidate == nullptr || rows_of(*candidate, reader.node) <= most) continue;
      most = rows_of(*candidate, reader.node);
      group = candidate;
      node = reader.node;
    }
    if (group == nullptr) return;
    std::vector<std::int64_t>& bounds = plan_.bounds.emplace_back();
    bounds.reserve(static_cast<std::size_t>(most) + 1);
    bounds.push_back(0);
    add_starts(*group, node, bounds);
    std::ranges::sort(bounds);
    bounds.erase(std::ranges::unique(bounds).begin(), bounds.end());
    bounds.push_back(graph_[id].type.shape[axis]);
    if (bounds.size() > 2) set(id, axis, bounds);
  }

  // The least position of each of the node's tiles along the group's axis.
  void add_starts(const ReadGroup& group, NodeId node, std::vector<std::int64_t>& starts) {
    work_.budget = group_budget;
    const std::vector<CuttableLoop>& loops = content_.nodes[node.index()]->cuttable.loops;
    for (std::size_t i = 0; i < loops.size(); ++i) work_.ranges[i] = {0, loops[i].loop.size};
    add_starts(group, node, 0, starts);
  }

  std::optional<std::int64_t> least_position(const ReadGroup& group) {
    if (group.simple) {
      simple_elements(group, work_);
      return work_.positions.empty() ? std::nullopt : std::optional(work_.positions.front().start);
    }
    std::optional<std::int64_t> least;
    switch (collect_elements(group, work_)) {
      case Given::products:
        for (std::size_t i = 0; i < work_.products; ++i) {
          const std::int64_t start = work_.product(i, 1)[0].front().start;
          least = std::min(least.value_or(start), start);
        }
        return least;
      case Given::intervals: return work_.intervals.empty() ? least : work_.intervals.front().begin;
      case Given::everything: break;
    }
    return 0;
  }

  void add_starts(const ReadGroup& group, NodeId node, std::size_t axis, std::vector<std::int64_t>& starts) {
    const PlannedNode& planned = plan_.nodes[node.index()];
    if (axis == planned.loops.size()) {
      if (const auto least = least_position(group)) starts.push_back(*least);
      return;
    }
    if ((group.loops >> planned.loops[axis] & 1U) == 0) return add_starts(group, node, axis + 1, starts);
    const GridAxis& grid = plan_.operators[node.index()].axes[axis];
    for (std::size_t i = 0; i < grid.count(); ++i) {
      work_.ranges[planned.loops[axis]] = {grid.bounds[i], grid.bounds[i + 1]};
      add_starts(group, node, axis + 1, starts);
    }
  }

  const GraphContent& content_;
  const Graph& graph_;
  PlanCells& plan_;
  ElementWork work_;
  bool skips_updates_ = false;  // of the tensor that is being cut
};

// Buffers of a tensor are numbered with the last axis fastest; so are tensors one after the other.
Status number_buffers(const GraphContent& content, PlanCells& plan) {
  const std::size_t tensors = content.graph.tensors().size();
  plan.first_buffer.resize(tensors + 1);
  std::int64_t next = 0;
  for (std::size_t t = 0; t < tensors; ++t) {
    plan.first_buffer[t] = static_cast<std::uint32_t>(next);
    if (content.stored[t] == 0) continue;
    std::int64_t step = 1;
    for (std::size_t axis = content.first_axis[t + 1]; axis-- > content.first_axis[t];) {
      AxisCells& cells = plan.axes[axis];
      if (cells.count == 1) continue;
      cells.step = static_cast<std::uint32_t>(step);
      step *= cells.count;
    }
    plan.cut[t] = step > 1 ? 1 : 0;
    next += step;
    if (next > std::numeric_limits<std::uint32_t>::max() - 1) {
      return Error{.kind = ErrorKind::user,
                   .message = "the tensors would be cut into more buffers than 32 bits can number",
                   .place = content.graph[TensorId(t)].name,
                   .advice = "use larger tiles"};
    }
  }
  plan.first_buffer[tensors] = static_cast<std::uint32_t>(next);
  return Done{};
}

}  // namespace

Expected<PlanCells> cells_of(const GraphContent& content, const Assignment& assignment, const TileOptions& options) {
  const Graph& graph = content.graph;
  PlanCells plan;
  plan.operators.resize(graph.nodes().size());
  plan.nodes.resize(graph.nodes().size());
  CellMaker maker(content, plan);
  for (std::size_t n = 0; n < graph.nodes().size(); ++n) {
    const NodeId id(n);
    std::span<const LoopCut> cuts;
    if (n < assignment.operators.size()) cuts = assignment.operators[n].cuts;
    MONET_TRY(Grid grid, grid_of(graph, id, cuts, content.nodes[n]->cuttable, options.max_tiles));
    OperatorTiles& tiles = plan.operators[n];
    tiles.first = static_cast<std::uint32_t>(plan.tiles);
    if (family_of(graph[id].op) == OpFamily::view) continue;
    plan.tiles += grid.tiles;
    if (plan.tiles > options.max_tiles) {
      return Error{.kind = ErrorKind::user,
                   .message = fmt::format("the step would be cut into more than {} tiles", options.max_tiles),
                   .place = graph[id].name,
                   .advice = "use larger tiles"};
    }
    tiles.count = static_cast<std::uint32_t>(grid.tiles);
    tiles.axes = std::move(grid.axes);
    for (std::uint8_t loop : grid.loops) plan.nodes[n].cut |= std::uint32_t{1} << loop;
    plan.nodes[n].loops = std::move(grid.loops);
    maker.cut_outputs(id);
  }
  for (std::size_t t = 0; t < graph.tensors().size(); ++t) {
    if (!graph[TensorId(t)].producer.valid()) maker.cut_source(TensorId(t));
  }
  MONET_RETURN_IF_ERROR(number_buffers(content, plan));
  return plan;
}

}  // namespace monet::tiling
