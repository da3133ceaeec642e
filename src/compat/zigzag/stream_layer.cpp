#include "compat/zigzag/stream_layer.h"

#include <algorithm>
#include <array>

namespace monet {

namespace {

constexpr ZigzagPrecision precision;

// Sizes of a node's loops in the tile.
class TileLoops {
 public:
  TileLoops(const Graph& graph, const Node& node, std::span<const Loop> extents) {
    const OperatorNests nests = nests_of(site_of(graph, node));
    for (const Nest& nest : nests.nests) {
      for (const Loop& loop : nest.loops) {
        if (std::ranges::find(loops_, loop.name, &Loop::name) == loops_.end()) loops_.push_back(loop);
      }
    }
    for (const Loop& extent : extents) {
      const auto found = std::ranges::find(loops_, extent.name, &Loop::name);
      if (found != loops_.end()) found->size = std::min(found->size, extent.size);
    }
  }
  std::int64_t operator[](Dim name) const {
    const auto found = std::ranges::find(loops_, name, &Loop::name);
    return found == loops_.end() ? 1 : found->size;
  }
  // Along the axes of a tensor that is walked element by element.
  std::vector<std::int64_t> over(const Shape& shape) const {
    std::vector<std::int64_t> sizes;
    for (const Loop& loop : loops_over(shape)) sizes.push_back((*this)[loop.name]);
    return sizes;
  }

 private:
  std::vector<Loop> loops_;
};

// By name: loops of a layer that an operand depends on.
std::vector<std::uint8_t> places(const ZigzagLayer& layer, std::initializer_list<Dim> names) {
  std::vector<std::uint8_t> found;
  for (Dim name : names) {
    const auto loop = std::ranges::find(layer.loops, name, &Loop::name);
    if (loop != layer.loops.end()) found.push_back(static_cast<std::uint8_t>(loop - layer.loops.begin()));
  }
  return found;
}

std::vector<std::uint8_t> counting(std::size_t first, std::size_t end) {
  std::vector<std::uint8_t> places;
  for (std::size_t i = first; i < end; ++i) places.push_back(static_cast<std::uint8_t>(i));
  return places;
}

// Strides and dilations: the first goes with the width. A mean over all positions has none.
std::vector<ZigzagWindow> windows_of(const ZigzagLayer& layer, const Node& node, std::array<Dim, 2> names,
                                     std::array<Dim, 2> outer, const Shape& slid_over) {
  const auto number = [&](Attr name, std::size_t i) {
    return node.op == Op::ReduceMean ? 1 : node.attributes.integers(name)[i];
  };
  constexpr std::array inner{Dim::FX, Dim::FY};
  std::vector<ZigzagWindow> windows;
  for (std::size_t i = 0; i < 2; ++i) {
    windows.push_back({names[i], places(layer, {outer[i]}).front(), places(layer, {inner[i]}).front(),
                       number(Attr::strides, i), number(Attr::dilations, i), slid_over[3 - i]});
  }
  return windows;
}

ZigzagLayer conv_layer(const Graph& graph, const Node& node, const TileLoops& tile) {
  const Shape& x = graph[node.inputs[0]].type.shape;
  const Shape& w = graph[node.inputs[1]].type.shape;
  ZigzagLayer layer;
  layer.loops = {{Dim::B, tile[Dim::B]}, {Dim::K, tile[Dim::K]}, {Dim::G, tile[Dim::G]},   {Dim::OX, tile[Dim::OX]},
                 {Dim::C, tile[Dim::C]}, {Dim::FX, w[2]},        {Dim::OY, tile[Dim::OY]}, {Dim::FY, w[3]}};
  layer.windows = windows_of(layer, node, {Dim::IX, Dim::IY}, {Dim::OX, Dim::OY}, x);
  layer.operands[0] = {'O', places(layer, {Dim::B, Dim::G, Dim::K, Dim::OY, Dim::OX}), false, precision.partial_bits};
  layer.operands[1] = {'W', places(layer, {Dim::G, Dim::K, Dim::C, Dim::FY, Dim::FX}), false, precision.weight_bits};
  layer.operands[2] = {'I', places(layer, {Dim::B, Dim::G, Dim::C}), true, precision.input_bits};
  return layer;
}

// The gradient of a pool has no weights, but is read as if it had as many as a convolution.
ZigzagLayer transposed_layer(const Graph& graph, const Node& node, const TileLoops& tile) {
  const Shape& x = graph[node.inputs[0]].type.shape;
  const Shape& y = graph[node.outputs[0]].type.shape;
  const bool dense = node.op == Op::AveragePoolGrad;
  const auto kernel = [&](std::size_t i) {
    return dense ? node.attributes.integers(Attr::kernel_shape)[i] : graph[node.inputs[1]].type.shape[i + 2];
  };
  ZigzagLayer layer;
  layer.loops = {{Dim::B, tile[Dim::B]},
                 {Dim::K, tile[Dim::K]},
                 {Dim::G, tile[Dim::G]},
                 {Dim::IX, dense ? x[3] : tile[Dim::IX]},
                 {Dim::IY, dense ? x[2] : tile[Dim::IY]},
                 {Dim::C, dense ? x[1] : tile[Dim::C]},
                 {Dim::FX, kernel(0)},
                 {Dim::FY, kernel(1)}};
  layer.windows = windows_of(layer, node, {Dim::OX, Dim::OY}, {Dim::IX, Dim::IY}, y);
  layer.operands[0] = {'O', places(layer, {Dim::B, Dim::G, Dim::K}), true, precision.partial_bits};
  layer.operands[1] = {'W', places(layer, {Dim::K, Dim::C, Dim::FY, Dim::FX}), false, precision.weight_bits};
  layer.operands[2] = {'I', places(layer, {Dim::B, Dim::G, Dim::C, Dim::IY, Dim::IX}), false, precision.input_bits};
  return layer;
}

ZigzagLayer pool_layer(const Graph& graph, const Node& node, const TileLoops& tile) {
  const Shape& x = graph[node.inputs[0]].type.shape;
  const bool all = node.op == Op::ReduceMean;
  const auto kernel = [&](std::size_t i) { return all ? x[i + 2] : node.attributes.integers(Attr::kernel_shape)[i]; };
  ZigzagLayer layer;
  layer.loops = {{Dim::B, tile[Dim::B]},
                 {Dim::K, tile[Dim::K]},
                 {Dim::OX, all ? 1 : tile[Dim::OX]},
                 {Dim::OY, all ? 1 : tile[Dim::OY]},
                 {Dim::C, x[1]},
                 {Dim::FX, kernel(0)},
                 {Dim::FY, kernel(1)}};
  layer.windows = windows_of(layer, node, {Dim::IX, Dim::IY}, {Dim::OX, Dim::OY}, x);
  layer.operands[0] = {'O', places(layer, {Dim::B, Dim::K, Dim::OY, Dim::OX}), false, precision.partial_bits};
  layer.operands[1] = {'W', places(layer, {Dim::FY, Dim::FX}), false, 0};
  layer.operands[2] = {'I', places(layer, {Dim::B, Dim::K}), true, precision.input_bits};
  return layer;
}

bool is_costed(const Node& node);

// Whether a node that costs something has a part in it.
bool is_computed(const Graph& graph, TensorId tensor) {
  while (graph[tensor].producer.valid()) {
    const Node& node = graph[graph[tensor].producer];
    if (is_costed(node) || node.inputs.empty() || !node.inputs[0].valid()) return true;
    tensor = node.inputs[0];
  }
  return false;
}

std::optional<ZigzagLayer> product_layer(const Graph& graph, const Node& node, const TileLoops& tile) {
  const std::size_t rank = graph[node.outputs[0]].type.shape.size();
  if (rank < 2 || rank > 4) return std::nullopt;
  ZigzagLayer layer;
  if (rank > 2) layer.loops.push_back({Dim::B, tile[Dim::B]});
  if (rank > 3) layer.loops.push_back({Dim::H, tile[Dim::H]});
  const std::size_t batch = layer.loops.size();
  for (Dim name : {Dim::D, Dim::C, Dim::K}) layer.loops.push_back({name, tile[name]});
  enum : std::uint8_t { d, c, k };
  const auto with = [&](std::size_t batch_loops, std::initializer_list<std::uint8_t> rest) {
    std::vector<std::uint8_t> all = counting(0, batch_loops);
    for (std::uint8_t i : rest) all.push_back(static_cast<std::uint8_t>(batch + i));
    return all;
  };
  layer.operands[0] = {'O', with(batch, {d, k}), false, precision.partial_bits};
  layer.operands[1] = {'I', with(batch, {d, c}), false, precision.input_bits};
  layer.operands[2] = {'W', with(is_computed(graph, node.inputs[1]) ? batch : 0, {c, k}), false, precision.weight_bits};
  return layer;
}

std::optional<ZigzagLayer> reduction_layer(const Graph& graph, const Node& node, const TileLoops& tile) {
  static const std::vector<std::vector<Dim>> names = {
      {}, {Dim::C}, {Dim::K, Dim::C}, {Dim::B, Dim::K, Dim::C}, {Dim::B, Dim::H, Dim::K, Dim::C}};
  const Shape& x = graph[node.inputs[0]].type.shape;
  if (x.empty() || x.size() >= names.size()) return std::nullopt;
  const std::vector<std::int64_t> sizes = tile.over(x);
  const auto& axes = node.attributes.integers(Attr::axes);
  ZigzagLayer layer;
  std::vector<std::uint8_t> kept;
  for (std::size_t i = 0; i < x.size(); ++i) {
    layer.loops.push_back({names[x.size()][i], sizes[i]});
    if (std::ranges::find(axes, static_cast<std::int64_t>(i)) == axes.end())
      kept.push_back(static_cast<std::uint8_t>(i));
  }
  layer.operands[0] = {'O', std::move(kept), false, precision.partial_bits};
  layer.operands[1] = {'I', counting(0, x.size()), false, precision.input_bits};
  layer.operands[2] = {'W', {}, false, precision.weight_bits};
  return layer;
}

std::optional<ZigzagLayer> elementwise_layer(const Graph& graph, const Node& node, const TileLoops& tile) {
  constexpr std::array names{Dim::B, Dim::H, Dim::D, Dim::K};
  const Shape& y = graph[node.outputs[0]].type.shape;
  if (y.empty() || y.size() > names.size()) return std::nullopt;
  const std::vector<std::int64_t> sizes = tile.over(y);
  ZigzagLayer layer;
  for (std::size_t i = 0; i < y.size(); ++i) layer.loops.push_back({names[i], sizes[i]});
  // A second operand of another shape has the last loops, or none where the operator is read as one of a single input.
  std::size_t axes = 0;
  if (node.inputs.size() == 2 && node.op != Op::SoftmaxCrossEntropyLossGrad) {
    Shape shapes[] = {graph[node.inputs[0]].type.shape, graph[node.inputs[1]].type.shape};
    if (shapes[0] != y) std::swap(shapes[0], shapes[1]);
    const bool aligned = node.op == Op::Mul || node.op == Op::Add;
    axes = shapes[1] == y ? y.size() : aligned ? std::min(y.size(), shapes[1].size()) : 0;
  }
  layer.operands[0] = {'O', counting(0, y.size()), false, precision.partial_bits};
  layer.operands[1] = {'I', counting(0, y.size()), false, precision.input_bits};
  layer.operands[2] = {'W', counting(y.size() - axes, y.size()), false, precision.weight_bits};
  return layer;
}

enum class Reading : std::uint8_t { free, conv, transposed, pool, product, reduction, elementwise };

Reading reading_of(const Node& node) {
  switch (node.op) {
    case Op::Conv: return Reading::conv;
    case Op::ConvTranspose:
    case Op::AveragePoolGrad: return Reading::transposed;
    case Op::AveragePool:
    case Op::MaxPool: return Reading::pool;
    // The mean over all positions of a channel is a pool.
    case Op::ReduceMean:
      return node.attributes.integers(Attr::axes) == std::vector<std::int64_t>{2, 3} ? Reading::pool : Reading::free;
    case Op::Gemm:
    case Op::MatMul: return Reading::product;
    case Op::ReduceSum: return Reading::reduction;
    case Op::Add:
    case Op::Div:
    case Op::Exp:
    case Op::Gelu:
    case Op::Mul:
    case Op::Pow:
    case Op::Reciprocal:
    case Op::Relu:
    case Op::ReluGrad:
    case Op::Sigmoid:
    case Op::SoftmaxCrossEntropyLossGrad:
    case Op::Sqrt:
    case Op::Sub: return Reading::elementwise;
    default: return Reading::free;
  }
}

bool is_costed(const Node& node) { return reading_of(node) != Reading::free; }

}  // namespace

std::optional<ZigzagLayer> stream_layer(const Graph& graph, const Node& node, std::span<const Loop> extents) {
  const Reading reading = reading_of(node);
  if (reading == Reading::free) return std::nullopt;
  const auto axes = [&](std::size_t input) { return graph[node.inputs[input]].type.shape.size(); };
  const bool spatial = reading == Reading::conv || reading == Reading::transposed || reading == Reading::pool;
  if (spatial && axes(0) != 4) return std::nullopt;
  const TileLoops tile(graph, node, extents);
  std::optional<ZigzagLayer> layer;
  switch (reading) {
    case Reading::conv: layer = conv_layer(graph, node, tile); break;
    case Reading::transposed: layer = transposed_layer(graph, node, tile); break;
    case Reading::pool: layer = pool_layer(graph, node, tile); break;
    case Reading::product: layer = product_layer(graph, node, tile); break;
    case Reading::reduction: layer = reduction_layer(graph, node, tile); break;
    case Reading::elementwise: layer = elementwise_layer(graph, node, tile); break;
    case Reading::free: break;
  }
  if (!layer) return std::nullopt;
  layer->name = node.name;
  layer->type = name_of(node.op);
  layer->final_bits = precision.output_bits;
  return layer;
}

}  // namespace monet
