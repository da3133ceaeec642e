#include "base/checked.h"
#include "onnx/node_import.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace monet::onnx {

namespace {

using Integers = std::vector<std::int64_t>;

struct PoolWindow {
  Integers kernel, strides, dilations, pads;
  std::string auto_pad;

  std::int64_t span(std::size_t axis) const { return (kernel[axis] - 1) * dilations[axis] + 1; }
};

// Values that are missing, too many or absurd fail the node; what is left is safe to calculate with.
Integers bounded(NodeImport& node, std::string_view name, std::size_t count, std::int64_t least,
                 std::optional<std::int64_t> otherwise) {
  constexpr std::int64_t largest = std::int64_t{1} << 31;
  const bool absent = !node.has_attribute(name);
  if (absent && !otherwise) node.fail("has no " + std::string(name));
  Integers values = node.integers(name, Integers(count, otherwise.value_or(1)));
  const bool sound = values.size() == count &&
                     std::ranges::all_of(values, [&](auto value) { return value >= least && value <= largest; });
  if (!sound) {
    node.fail("its attribute '" + std::string(name) + "' does not fit an input of " + to_string(node.shape(0)),
              "give one value for each axis but the first two (pads: two), none below " + std::to_string(least));
    values.assign(count, 1);
  }
  return values;
}

PoolWindow read_window(NodeImport& node) {
  if (node.rank(0) < 3 || node.rank(0) > 5) {
    node.fail("pools an input of " + to_string(node.shape(0)),
              "give it a batch axis, a channel axis and one to three more");
  }
  const std::size_t spatial = std::max<std::size_t>(node.rank(0), 2) - 2;
  PoolWindow window{.kernel = bounded(node, "kernel_shape", spatial, 1, std::nullopt),
                    .strides = bounded(node, "strides", spatial, 1, 1),
                    .dilations = bounded(node, "dilations", spatial, 1, 1),
                    .pads = bounded(node, "pads", 2 * spatial, 0, 0),
                    .auto_pad = node.text("auto_pad", "NOTSET")};
  const std::array known = {"NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"};
  if (std::ranges::find(known, window.auto_pad) == known.end()) {
    node.fail("has no auto_pad '" + window.auto_pad + "'", "use NOTSET, VALID, SAME_UPPER or SAME_LOWER");
  }
  return window;
}

// Pads that give ceil(size / stride) places.
void pad_to_same(PoolWindow& window, const Shape& input) {
  const std::size_t spatial = window.kernel.size();
  for (std::size_t i = 0; i < spatial; ++i) {
    const std::int64_t places = ceil_divide(input[i + 2], window.strides[i]);
    const std::int64_t needed = (places - 1) * window.strides[i] + window.span(i) - input[i + 2];
    const std::int64_t total = std::max<std::int64_t>(needed, 0);
    window.pads[i] = window.auto_pad == "SAME_UPPER" ? total / 2 : total - total / 2;
    window.pads[spatial + i] = total - window.pads[i];
  }
}

Shape pooled_shape(NodeImport& node, const PoolWindow& window) {
  const bool round_up = node.integer("ceil_mode", 0) != 0;
  Shape shape = node.shape(0);
  const std::size_t spatial = window.kernel.size();
  for (std::size_t i = 0; i < spatial; ++i) {
    const std::int64_t stride = window.strides[i];
    const std::int64_t slack = shape[i + 2] + window.pads[i] + window.pads[spatial + i] - window.span(i);
    std::int64_t places = (round_up ? ceil_divide(slack, stride) : floor_divide(slack, stride)) + 1;
    // The last window starts inside the input or the padding before it.
    if (round_up && (places - 1) * stride >= shape[i + 2] + window.pads[i]) --places;
    shape[i + 2] = places;
  }
  return shape;
}

Attributes window_attributes(const PoolWindow& window, Shape shape) {
  return {{Attr::kernel_shape, window.kernel},
          {Attr::strides, window.strides},
          {Attr::dilations, window.dilations},
          {Attr::pads, window.pads},
          {Attr::shape, std::move(shape)}};
}

// The attributes all pools share; the padding is explicit and the output's shape decided.
Attributes pool_attributes(NodeImport& node) {
  PoolWindow window = read_window(node);
  if (node.failed()) return {};
  if (window.auto_pad.starts_with("SAME")) {
    pad_to_same(window, node.shape(0));
  } else if (window.auto_pad == "VALID") {
    std::ranges::fill(window.pads, 0);
  }
  return window_attributes(window, pooled_shape(node, window));
}

void average_pool(NodeImport& node) {
  Attributes attributes = pool_attributes(node);
  attributes.set(Attr::count_include_pad, node.integer("count_include_pad", 0));
  node.emit(Op::AveragePool, {node.input(0)}, std::move(attributes));
}

void max_pool(NodeImport& node) {
  Attributes attributes = pool_attributes(node);
  attributes.set(Attr::storage_order, node.integer("storage_order", 0));
  node.emit(Op::MaxPool, {node.input(0)}, std::move(attributes));
}

void lp_pool(NodeImport& node) {
  Attributes attributes = pool_attributes(node);
  attributes.set(Attr::p, node.integer("p", 2));
  node.emit(Op::LpPool, {node.input(0)}, std::move(attributes));
}

void reduce_spatial(NodeImport& node, Op op) {
  if (node.rank(0) < 2) node.fail("pools an input of " + to_string(node.shape(0)), "it has no channel axis");
  Integers axes(std::max<std::size_t>(node.rank(0), 2) - 2);
  std::iota(axes.begin(), axes.end(), 2);
  node.emit(op, {node.input(0)}, {{Attr::axes, std::move(axes)}, {Attr::keepdims, std::int64_t{1}}});
}

template <Op op>
void global_pool(NodeImport& node) {
  reduce_spatial(node, op);
}

void global_lp_pool(NodeImport& node) {
  const std::int64_t p = node.integer("p", 2);
  if (p != 1 && p != 2) node.fail("pools with the order p = " + std::to_string(p), "use 1 or 2");
  reduce_spatial(node, p == 1 ? Op::ReduceL1 : Op::ReduceL2);
}

// The node has the gradient of the output only. The input that its last windows end at is what is assumed here: input
// elements after the last window, which a stride may have left over, cannot be known from the node.
void average_pool_gradient(NodeImport& node) {
  const PoolWindow window = read_window(node);
  if (window.auto_pad.starts_with("SAME")) {
    node.fail("pads as " + window.auto_pad + ", which does not tell the size of its output", "write explicit pads");
  }
  node.ignore({"ceil_mode"});
  if (node.failed()) return;
  const std::size_t spatial = window.kernel.size();
  Shape shape = node.shape(0);
  for (std::size_t i = 0; i < spatial; ++i) {
    const auto reach = checked_multiply(shape[i + 2] - 1, window.strides[i]);
    const auto size = reach ? checked_add(*reach, window.span(i)) : std::nullopt;
    if (!size) {
      node.fail("gives a tensor with more elements than can be counted");
      return;
    }
    shape[i + 2] = *size - window.pads[i] - window.pads[spatial + i];
  }
  Attributes attributes = window_attributes(window, std::move(shape));
  attributes.set(Attr::count_include_pad, node.integer("count_include_pad", 0));
  node.emit(Op::AveragePoolGrad, {node.input(0)}, std::move(attributes));
}

constexpr std::array pool_entries = {
    ImportEntry{"", "AveragePool", average_pool},
    ImportEntry{"", "GlobalAveragePool", global_pool<Op::ReduceMean>},
    ImportEntry{"", "GlobalLpPool", global_lp_pool},
    ImportEntry{"", "GlobalMaxPool", global_pool<Op::ReduceMax>},
    ImportEntry{"", "LpPool", lp_pool},
    ImportEntry{"", "MaxPool", max_pool},
    ImportEntry{"com.microsoft", "AveragePoolGrad", average_pool_gradient},
};

}  // namespace

std::span<const ImportEntry> pool_rules() { return pool_entries; }

}  // namespace monet::onnx
