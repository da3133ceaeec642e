#include "evaluate/tiles/build.h"

#include "base/require.h"
#include "base/try.h"
#include "evaluate/tiles/emit.h"

#include <bit>

namespace monet {

namespace {

tiling::TiledNode tiled_node(const Graph& graph, const OperatorClasses& classes, NodeId id) {
  tiling::TiledNode tiled;
  const Node& node = graph[id];
  if (family_of(node.op) == OpFamily::view) return tiled;
  const OperatorNests nests = nests_of(site_of(graph, node));
  tiled.cuttable = tiling::cuttable_of(graph, node, nests);
  tiled.reads = tiling::reads_of(graph, classes, id, nests, tiled.cuttable);
  return tiled;
}

}  // namespace

struct TilingGraph::Content : tiling::GraphContent {};

struct TilingGraph::Alone {
  explicit Alone(const Graph& graph) : classes(graph, numbers) {}
  OperatorClassTable numbers;
  OperatorClasses classes;
  TilingTable table;
};

TilingGraph::TilingGraph(const Graph& graph) {
  auto alone = std::make_unique<Alone>(graph);
  *this = TilingGraph(graph, alone->classes, alone->table);
  alone_ = std::move(alone);
}

TilingGraph::TilingGraph(const Graph& graph, const OperatorClasses& classes, TilingTable& table) {
  auto content = std::make_unique<Content>(tiling::GraphContent{.graph = graph, .classes = classes, .nodes = {}});
  const std::size_t tensors = graph.tensors().size();
  content->first_axis.reserve(tensors + 1);
  content->width.reserve(tensors);
  content->elements.reserve(tensors);
  content->stored.reserve(tensors);
  content->nodes.reserve(graph.nodes().size());
  content->first_axis.push_back(0);
  content->first_reader.assign(tensors + 1, 0);
  for (const Tensor& tensor : graph.tensors()) {
    content->first_axis.push_back(content->first_axis.back() + static_cast<std::uint32_t>(tensor.type.shape.size()));
    content->width.push_back(stored_width(tensor.type));
    content->elements.push_back(element_count(tensor.type.shape));
    const TensorId id(content->width.size() - 1);
    content->stored.push_back(tiling::is_view(graph, id) ? 0 : 1);
  }
  for (std::size_t n = 0; n < graph.nodes().size(); ++n) {
    const NodeId node(n);
    const tiling::TiledNode& tiled =
        table.find_or_make(classes[node], [&] { return tiled_node(graph, classes, node); });
    content->nodes.push_back(&tiled);
    for (const tiling::ReadSite& site : tiled.reads) ++content->first_reader[content->tensor(node, site).index() + 1];
  }
  for (std::size_t t = 0; t < tensors; ++t) content->first_reader[t + 1] += content->first_reader[t];
  content->readers.resize(content->first_reader.back());
  std::vector<std::uint32_t> next(content->first_reader.begin(), content->first_reader.end() - 1);
  for (std::size_t n = 0; n < content->nodes.size(); ++n) {
    const auto& reads = content->nodes[n]->reads;
    for (std::size_t i = 0; i < reads.size(); ++i) {
      const TensorId tensor = content->tensor(NodeId(n), reads[i]);
      content->readers[next[tensor.index()]++] = {NodeId(n), static_cast<std::uint32_t>(i)};
    }
  }
  content_ = std::move(content);
}

TilingGraph::~TilingGraph() = default;
TilingGraph::TilingGraph(TilingGraph&&) noexcept = default;
TilingGraph& TilingGraph::operator=(TilingGraph&&) noexcept = default;

std::span<const CuttableLoop> TilingGraph::cuttable(NodeId node) const {
  return content_->nodes[node.index()]->cuttable.loops;
}

std::vector<LoopsAlong> TilingGraph::read_along(NodeId node) const {
  const tiling::TiledNode& tiled = *content_->nodes[node.index()];
  std::vector<LoopsAlong> result;
  for (const tiling::ReadSite& site : tiled.reads) {
    LoopsAlong& along = result.emplace_back(LoopsAlong{.tensor = content_->tensor(node, site), .loops = {}});
    along.loops.resize(content_->graph[along.tensor].type.shape.size());
    for (const tiling::ReadGroup& group : site.groups) {
      if (group.axes.size() != 1 || !std::has_single_bit(group.loops)) continue;
      const auto loop = static_cast<std::size_t>(std::countr_zero(group.loops));
      along.loops[group.axes.front()] = tiled.cuttable.loops[loop].loop.name;
    }
  }
  return result;
}

std::vector<LoopsAlong> TilingGraph::written_along(NodeId node) const {
  const tiling::Cuttable& cuttable = content_->nodes[node.index()]->cuttable;
  std::vector<LoopsAlong> result;
  for (const tiling::WrittenOutput& written : cuttable.outputs) {
    LoopsAlong& along =
        result.emplace_back(LoopsAlong{.tensor = content_->graph[node].outputs[written.output], .loops = {}});
    for (const tiling::WrittenAxis& axis : written.axes) {
      along.loops.push_back(axis.loop == tiling::no_loop ? std::nullopt
                                                         : std::optional(cuttable.loops[axis.loop].loop.name));
    }
  }
  return result;
}

Expected<TileGraph> TilingGraph::tiles(const Assignment& assignment, const TileOptions& options) const {
  const std::size_t tensors = content_->graph.tensors().size();
  MONET_REQUIRE(options.element_bits.empty() || options.element_bits.size() == tensors);
  MONET_TRY(tiling::PlanCells plan, tiling::cells_of(*content_, assignment, options));
  return tiling::emit(*content_, std::move(plan), options);
}

Expected<std::vector<std::vector<std::int64_t>>> TilingGraph::cells(const Assignment& assignment,
                                                                    TensorId tensor) const {
  MONET_TRY(const tiling::PlanCells plan, tiling::cells_of(*content_, assignment, {}));
  const Shape& shape = content_->graph[tensor].type.shape;
  const std::span<const tiling::AxisCells> axes = plan.cells(*content_, tensor);
  std::vector<std::vector<std::int64_t>> result;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (axes[i].bounds == nullptr) {
      result.push_back({0, shape[i]});
    } else {
      result.emplace_back(axes[i].bounds, axes[i].bounds + axes[i].count + 1);
    }
  }
  return result;
}

}  // namespace monet
