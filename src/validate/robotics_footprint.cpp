#include "validate/robotics.h"

#include "base/require.h"

#include <fmt/format.h>

#include <algorithm>

namespace monet {

namespace {

constexpr double state_bits = 3 * 32;  // of a weight: itself, two moments

Format along(Format format, int axis) {
  format.group_axis = static_cast<std::int8_t>(axis);
  return format;
}

double bits_of(const Shape& shape, const Format& format, bool padded) {
  if (padded) return 8 * static_cast<double>(bytes(shape, format));
  return static_cast<double>(element_count(shape)) * stored_bits(format);
}

// The first copy is grouped along the last axis, the second along the one before it.
double copies_of(const Shape& shape, int copies, const Format& format, bool padded) {
  double bits = 0;
  for (int i = 0; i < copies; ++i) bits += bits_of(shape, along(format, -1 - i), padded);
  return bits;
}

std::string times(int copies) { return copies == 1 ? "once" : "twice"; }

}  // namespace

Format mx9_format() {
  return {.element = ElementType::int8, .scale_bits = 8, .group_size = 16, .subscale_bits = 1, .subgroup_size = 2};
}

Format square_format() { return {.element = ElementType::int8, .scale_bits = 8, .group_size = 8, .group_rows = 8}; }

Format ocp_format() { return {.element = ElementType::int8, .scale_bits = 8, .group_size = 32}; }

std::string text_of(const Accounting& accounting) {
  std::string text = "weights " + times(accounting.weights);
  if (accounting.activations > 0) text += ", inputs " + times(accounting.activations);
  if (accounting.gradients > 0) text += ", gradients " + times(accounting.gradients);
  if (accounting.state) text += ", fp32 weights and two moments";
  return text + (accounting.padded ? ", padded" : ", unpadded");
}

double footprint_bits(const Graph& forward, const Accounting& accounting, const Format& format) {
  double bits = 0;
  for (const Node& node : forward.nodes()) {
    if (node.op != Op::Gemm) continue;
    const Shape& input = forward[node.inputs[0]].type.shape;
    const Shape& weight = forward[node.inputs[1]].type.shape;
    const Shape& result = forward[node.outputs[0]].type.shape;
    bits += copies_of(weight, accounting.weights, format, accounting.padded) +
            copies_of(input, accounting.activations, format, accounting.padded) +
            copies_of(result, accounting.gradients, format, accounting.padded);
    if (accounting.state) bits += state_bits * static_cast<double>(element_count(weight));
  }
  return bits;
}

double footprint_reduction(const Graph& forward, const Accounting& accounting, const Format& along_axis) {
  Accounting once = accounting;
  once.weights = std::min(once.weights, 1);
  once.activations = std::min(once.activations, 1);
  once.gradients = std::min(once.gradients, 1);
  const double twice_bits = footprint_bits(forward, accounting, along_axis);
  MONET_REQUIRE(twice_bits > 0);
  return 100 * (1 - footprint_bits(forward, once, square_format()) / twice_bits);
}

}  // namespace monet
