#include "compat/zigzag/layer.h"

#include <fmt/format.h>

#include <algorithm>

namespace monet {

namespace {

std::int64_t ceil_divided(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

// Inputs that another node of the graph makes.
std::ptrdiff_t produced_inputs(const Graph& graph, const Node& node) {
  return std::ranges::count_if(node.inputs, [&](TensorId id) { return id.valid() && graph[id].producer.valid(); });
}

std::string read_conv(const Graph& graph, const Node& node, const ZigzagPrecision& precision, ZigzagWorkload& work) {
  const Shape& x = graph[node.inputs[0]].type.shape;
  const Shape& w = graph[node.inputs[1]].type.shape;
  const Shape& y = graph[node.outputs[0]].type.shape;
  if (x.size() != 4) return fmt::format("a convolution over {} axes; ZigZag reads those over 2", x.size() - 2);
  const auto& strides = node.attributes.integers(Attr::strides);
  const auto& dilations = node.attributes.integers(Attr::dilations);
  const std::int64_t groups = node.attributes.integer(Attr::group);
  ZigzagConv conv;
  conv.batch = y[0];
  conv.output_channels = ceil_divided(y[1], groups);
  conv.groups = groups;
  conv.width = y[3];
  conv.height = y[2];
  conv.channels = ceil_divided(x[1], groups);
  conv.kernel = {w[2], w[3]};
  conv.strides = {strides[0], strides[1]};
  conv.dilations = {dilations[0], dilations[1]};
  conv.input_width = x[3];
  conv.input_height = x[2];
  work.layers.push_back(zigzag_conv(node.name, conv, precision));
  return {};
}

std::string read_product(const Graph& graph, const Node& node, const ZigzagPrecision& precision, ZigzagWorkload& work) {
  Shape a = graph[node.inputs[0]].type.shape;
  const Shape& y = graph[node.outputs[0]].type.shape;
  if (a.size() != y.size()) return "its first input and its output have different numbers of axes";
  if (a.size() < 2 || a.size() > 4) return fmt::format("a product of {} axes; ZigZag reads 2 to 4", a.size());
  if (node.attributes.integer(Attr::trans_a) != 0) std::swap(a[a.size() - 2], a[a.size() - 1]);
  if (!std::equal(a.begin(), a.end() - 1, y.begin())) return "its first input is broadcast";
  ZigzagProduct product;
  product.rows = a[a.size() - 2];
  product.contracted = a[a.size() - 1];
  product.columns = y[y.size() - 1];
  product.batch = a.size() > 2 ? a[0] : 0;
  product.heads = a.size() > 3 ? a[1] : 0;
  product.constant_weights = produced_inputs(graph, node) < 2;
  work.layers.push_back(zigzag_product(node.name, node.op == Op::Gemm ? "Gemm" : "MatMul", product, precision));
  return {};
}

std::string read_node(const Graph& graph, const Node& node, const ZigzagPrecision& precision, ZigzagWorkload& work) {
  for (TensorId id : node.outputs) {
    if (id.valid() && element_count(graph[id].type.shape) == 0) return "it has no elements";
  }
  if (node.op == Op::Conv) return read_conv(graph, node, precision, work);
  if (node.op == Op::MatMul || node.op == Op::Gemm) return read_product(graph, node, precision, work);
  return "ZigZag costs Conv, MatMul and Gemm only";
}

}  // namespace

double ZigzagLayer::macs() const {
  double product = 1;
  for (const Loop& loop : loops) product *= static_cast<double>(loop.size);
  return product;
}

bool ZigzagLayer::same_work(const ZigzagLayer& other) const {
  return loops == other.loops && windows == other.windows && operands == other.operands &&
         final_bits == other.final_bits;
}

ZigzagWorkload zigzag_layers(const Graph& graph, const ZigzagPrecision& precision) {
  ZigzagWorkload work;
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    const NodeId id(i);
    std::string reason = read_node(graph, graph[id], precision, work);
    if (reason.empty()) {
      work.nodes.push_back(id);
    } else {
      work.skipped.push_back({id, std::move(reason)});
    }
  }
  return work;
}

ZigzagLayer zigzag_conv(std::string name, const ZigzagConv& conv, const ZigzagPrecision& precision) {
  ZigzagLayer layer;
  layer.name = std::move(name);
  layer.type = "Conv";
  layer.loops = {{Dim::B, conv.batch},      {Dim::K, conv.output_channels}, {Dim::G, conv.groups},
                 {Dim::OX, conv.width},     {Dim::OY, conv.height},         {Dim::C, conv.channels},
                 {Dim::FX, conv.kernel[0]}, {Dim::FY, conv.kernel[1]}};
  enum : std::uint8_t { b, k, g, ox, oy, c, fx, fy };
  layer.windows = {{Dim::IX, ox, fx, conv.strides[0], conv.dilations[0], conv.input_width},
                   {Dim::IY, oy, fy, conv.strides[1], conv.dilations[1], conv.input_height}};
  layer.operands[0] = {'O', {b, g, k, oy, ox}, false, precision.partial_bits};
  layer.operands[1] = {'W', {g, k, c, fy, fx}, false, precision.weight_bits};
  layer.operands[2] = {'I', {b, g, c}, true, precision.input_bits};
  layer.final_bits = precision.output_bits;
  return layer;
}

ZigzagLayer zigzag_product(std::string name, std::string type, const ZigzagProduct& product,
                           const ZigzagPrecision& precision) {
  ZigzagLayer layer;
  layer.name = std::move(name);
  layer.type = std::move(type);
  layer.loops = {{Dim::C, product.contracted}, {Dim::D, product.rows}, {Dim::K, product.columns}};
  enum : std::uint8_t { c, d, k };
  std::vector<std::uint8_t> batch;
  const auto add_batch = [&](Dim dim, std::int64_t size) {
    if (size == 0) return;
    batch.push_back(static_cast<std::uint8_t>(layer.loops.size()));
    layer.loops.push_back({dim, size});
  };
  add_batch(Dim::B, product.batch);
  add_batch(Dim::H, product.heads);
  const auto with_batch = [&](std::initializer_list<std::uint8_t> loops) {
    std::vector<std::uint8_t> all = batch;
    all.insert(all.end(), loops);
    return all;
  };
  layer.operands[0] = {'O', with_batch({d, k}), false, precision.partial_bits};
  layer.operands[1] = {'I', with_batch({d, c}), false, precision.input_bits};
  layer.operands[2] = {'W', product.constant_weights ? std::vector<std::uint8_t>{c, k} : with_batch({c, k}), false,
                       product.constant_weights ? precision.weight_bits : precision.input_bits};
  layer.final_bits = precision.output_bits;
  return layer;
}

}  // namespace monet
