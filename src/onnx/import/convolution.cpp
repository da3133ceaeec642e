#include "onnx/node_import.h"

#include "base/checked.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace monet::onnx {

namespace {

using Integers = std::vector<std::int64_t>;

constexpr std::int64_t largest_value = std::int64_t{1} << 31;

// One value for each of `count` axes, each in [low, 2^31]; fails the node otherwise.
Integers bounded(NodeImport& node, std::string_view name, std::size_t count, std::int64_t otherwise, std::int64_t low) {
  Integers values = node.integers(name, Integers(count, otherwise));
  if (values.empty()) values.assign(count, otherwise);
  const bool fits = std::ranges::all_of(values, [&](std::int64_t v) { return v >= low && v <= largest_value; });
  if (values.size() != count || !fits) {
    node.fail(fmt::format("has {} [{}]", name, fmt::join(values, ", ")),
              fmt::format("give {} values from {} to {}", count, low, largest_value));
    values.assign(count, std::max<std::int64_t>(otherwise, low));
  }
  return values;
}

enum class Padding { given, valid, same_upper, same_lower };

Padding padding_of(NodeImport& node) {
  const std::string text = node.text("auto_pad", "NOTSET");
  if (text == "NOTSET" || text.empty()) return Padding::given;
  if (text == "VALID") return Padding::valid;
  if (text == "SAME_UPPER") return Padding::same_upper;
  if (text == "SAME_LOWER") return Padding::same_lower;
  node.fail("has the padding rule '" + text + "'", "use NOTSET, VALID, SAME_UPPER or SAME_LOWER");
  return Padding::given;
}

struct ConvolutionWindow {
  std::size_t count = 0;  // spatial axes
  Shape input;            // their sizes
  Shape kernel;
  Integers strides;
  Integers dilations;
  Integers pads;

  // (kernel - 1) * dilation + 1, or nothing when it is too large.
  std::optional<std::int64_t> extent(std::size_t i) const {
    const auto reach = checked_multiply(kernel[i] - 1, dilations[i]);
    return reach ? checked_add(*reach, 1) : std::nullopt;
  }
};

// What Conv and ConvTranspose share. Fails the node when the shapes of input and weights cannot belong together.
ConvolutionWindow window_of(NodeImport& node) {
  ConvolutionWindow window;
  const Shape x = node.shape(0);
  const Shape w = node.shape(1);
  if (x.size() < 3 || x.size() > 5 || w.size() != x.size()) {
    node.fail(fmt::format("convolves an input of {} with weights of {}", to_string(x), to_string(w)),
              "give batch, channel and one to three more axes");
    return window;
  }
  window.count = x.size() - 2;
  window.input.assign(x.begin() + 2, x.end());
  window.kernel.assign(w.begin() + 2, w.end());
  const Integers kernel = node.integers("kernel_shape", window.kernel);
  if (kernel != window.kernel) {
    node.fail(fmt::format("has kernel_shape [{}] and weights of {}", fmt::join(kernel, ", "), to_string(w)));
  }
  if (std::ranges::any_of(window.kernel, [](std::int64_t size) { return size < 1; })) {
    node.fail(fmt::format("has an empty kernel in {}", to_string(w)));
  }
  window.strides = bounded(node, "strides", window.count, 1, 1);
  window.dilations = bounded(node, "dilations", window.count, 1, 1);
  window.pads = bounded(node, "pads", 2 * window.count, 0, 0);
  return window;
}

// Splits what is to be padded along axis i; the odd element goes to the end when `more_at_end`.
void set_pads(ConvolutionWindow& window, std::size_t i, std::int64_t total, bool more_at_end) {
  const std::int64_t smaller = total / 2;
  window.pads[i] = more_at_end ? smaller : total - smaller;
  window.pads[window.count + i] = total - window.pads[i];
}

Attributes attributes_of(NodeImport& node, const ConvolutionWindow& window) {
  return {{Attr::strides, window.strides},
          {Attr::dilations, window.dilations},
          {Attr::pads, window.pads},
          {Attr::group, node.integer("group", 1)}};
}

// Some exporters add a bias of zeros to every convolution. An initializer is another matter: a bias that is trained
// starts at zero.
std::vector<TensorId> with_bias(NodeImport& node, std::vector<TensorId> operands) {
  const Constant* value = node.is_initializer(2) ? nullptr : node.value(2);
  if (node.has_input(2) && (value == nullptr || !value->is_uniformly(0))) operands.push_back(node.input(2));
  return operands;
}

// Output size is the input's divided by the stride, rounded up.
void resolve_conv_pads(NodeImport& node, ConvolutionWindow& window, Padding padding) {
  if (padding == Padding::given) return;
  std::ranges::fill(window.pads, 0);
  if (padding == Padding::valid) return;
  for (std::size_t i = 0; i < window.count; ++i) {
    const auto extent = window.extent(i);
    if (!extent) {
      node.fail("has a kernel larger than can be counted");
      return;
    }
    const std::int64_t steps = std::max<std::int64_t>(ceil_divide(window.input[i], window.strides[i]) - 1, 0);
    const std::int64_t total = *extent - (window.input[i] - steps * window.strides[i]);
    set_pads(window, i, std::max<std::int64_t>(total, 0), padding == Padding::same_upper);
  }
}

void convolve(NodeImport& node, std::vector<TensorId> operands) {
  ConvolutionWindow window = window_of(node);
  const Padding padding = padding_of(node);
  if (node.failed()) return;
  resolve_conv_pads(node, window, padding);
  node.emit(Op::Conv, std::move(operands), attributes_of(node, window));
}

void conv(NodeImport& node) { convolve(node, with_bias(node, {node.input(0), node.input(1)})); }

// The zero point is subtracted first, so that padding is zero as the operator's definition says.
TensorId centred(NodeImport& node, std::size_t operand, std::size_t zero_point) {
  const Attributes to_int32 = {{Attr::to, static_cast<std::int64_t>(ElementType::int32)}};
  const TensorId wide = node.make(Op::Cast, {node.input(operand)}, to_int32);
  if (!node.has_input(zero_point)) return wide;
  if (const Constant* value = node.value(zero_point); value != nullptr && value->is_uniformly(0)) return wide;
  TensorId zero = node.make(Op::Cast, {node.input(zero_point)}, to_int32);
  if (node.rank(zero_point) == 1 && node.rank(operand) > 1) {
    Shape shape(node.rank(operand), 1);
    shape[0] = node.shape(zero_point)[0];
    zero = node.make(Op::Reshape, {zero}, {{Attr::shape, shape}});
  }
  return node.make(Op::Sub, {wide, zero});
}

void conv_integer(NodeImport& node) {
  const TensorId x = centred(node, 0, 2);
  const TensorId w = centred(node, 1, 3);
  convolve(node, {x, w});
}

// Sizes the file asks for, spatial axes only; empty when it leaves them to the padding.
Integers wanted_sizes(NodeImport& node, const ConvolutionWindow& window, Padding padding) {
  Integers sizes = node.integers("output_shape");
  if (sizes.size() == window.count + 2) sizes.erase(sizes.begin(), sizes.begin() + 2);
  if (!sizes.empty() && sizes.size() != window.count) {
    node.fail(fmt::format("has output_shape [{}] for {} axes", fmt::join(sizes, ", "), window.count));
    return {};
  }
  if (sizes.empty() && (padding == Padding::same_upper || padding == Padding::same_lower)) {
    for (std::size_t i = 0; i < window.count; ++i) {
      sizes.push_back(checked_multiply(window.input[i], window.strides[i]).value_or(-1));
    }
  }
  if (std::ranges::any_of(sizes, [](std::int64_t size) { return size < 1; })) {
    node.fail(fmt::format("has an output of [{}]", fmt::join(sizes, ", ")), "give positive sizes");
  }
  return sizes;
}

// Pads are what the full output has more than the wanted one; where it has less, the rest stays empty at the end.
void resolve_transpose_pads(NodeImport& node, ConvolutionWindow& window, Integers& output_padding, Padding padding) {
  const Integers sizes = wanted_sizes(node, window, padding);
  if (padding != Padding::given) std::ranges::fill(window.pads, 0);
  for (std::size_t i = 0; i < sizes.size() && !node.failed(); ++i) {
    const auto extent = window.extent(i);
    const auto steps = checked_multiply(window.input[i] - 1, window.strides[i]);
    const auto sum = extent && steps ? checked_add(*extent, *steps) : std::nullopt;
    const auto full = sum ? checked_add(*sum, output_padding[i]) : std::nullopt;
    const auto total = full ? checked_add(*full, -sizes[i]) : std::nullopt;
    if (!total) {
      node.fail("has an output larger than can be counted");
      return;
    }
    if (*total < 0) output_padding[i] -= *total;
    set_pads(window, i, std::max<std::int64_t>(*total, 0), padding == Padding::same_upper);
  }
}

// Training graphs made from a strided convolution leave output_padding out, and only the shape that the exporter noted
// tells which of the `stride` possible inputs the convolution had.
void adopt_declared_size(NodeImport& node, const ConvolutionWindow& window, Integers& output_padding) {
  if (node.has_attribute("output_padding") || node.has_attribute("output_shape")) return;
  const auto declared = node.declared_shape(0);
  if (!declared || declared->size() != window.count + 2) return;
  for (std::size_t i = 0; i < window.count; ++i) {
    const auto extent = window.extent(i);
    const auto steps = checked_multiply(window.input[i] - 1, window.strides[i]);
    const auto full = extent && steps ? checked_add(*extent, *steps) : std::nullopt;
    if (!full) return;
    const std::int64_t missing = (*declared)[i + 2] - (*full - window.pads[i] - window.pads[i + window.count]);
    if (missing > 0 && missing < window.strides[i]) output_padding[i] = missing;
  }
}

void conv_transpose(NodeImport& node) {
  ConvolutionWindow window = window_of(node);
  const Padding padding = padding_of(node);
  Integers output_padding = bounded(node, "output_padding", window.count, 0, 0);
  if (node.failed()) return;
  resolve_transpose_pads(node, window, output_padding, padding);
  if (padding == Padding::given) adopt_declared_size(node, window, output_padding);
  Attributes attributes = attributes_of(node, window);
  attributes.set(Attr::output_padding, std::move(output_padding));
  node.emit(Op::ConvTranspose, with_bias(node, {node.input(0), node.input(1)}), std::move(attributes));
}

constexpr std::array convolution_entries = {
    ImportEntry{"", "Conv", conv},
    ImportEntry{"", "ConvInteger", conv_integer},
    ImportEntry{"", "ConvTranspose", conv_transpose},
};

}  // namespace

std::span<const ImportEntry> convolution_rules() { return convolution_entries; }

}  // namespace monet::onnx
