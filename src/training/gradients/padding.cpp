#include "training/gradients/padding.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace monet::training {

namespace {

using Integers = std::vector<std::int64_t>;

// One axis of the padded tensor: `begin` repeated elements, `size` own ones, `end` repeated ones.
struct PaddedAxis {
  std::int64_t axis;
  std::int64_t begin;
  std::int64_t size;
  std::int64_t end;
};

// `part` along the axis, at position `at` of `size`.
TensorId placed(GradientBuilder& g, TensorId part, const PaddedAxis& padded, std::int64_t at) {
  const Shape shape = g.shape(part);
  Integers begins(shape.size(), 0);
  Integers ends(shape.size(), 0);
  const auto axis = static_cast<std::size_t>(padded.axis);
  begins[axis] = at;
  ends[axis] = padded.size - at - shape[axis];
  return with_zeros(g, part, std::move(begins), ends);
}

// The own elements plus what comes back from those that repeat them.
TensorId folded(GradientBuilder& g, TensorId dy, const PaddedAxis& padded, const std::string& mode) {
  const auto& [axis, begin, size, end] = padded;
  const bool edge = mode == "edge" || size == 1;
  const bool wrap = mode == "wrap";
  if (!edge && std::max(begin, end) > (wrap ? size : size - 1)) {
    g.fail(fmt::format("{} pads of {} and {} repeat an axis of {} more than once", mode, begin, end, size),
           "pad in several steps");
    return dy;
  }
  std::vector<TensorId> parts = {g.slice(dy, axis, begin, size)};
  const auto give_back = [&](std::int64_t start, std::int64_t count, std::int64_t at) {
    if (count == 0) return;
    TensorId part = g.slice(dy, axis, start, count);
    if (edge) part = g.reduce_sum(part, {axis}, true);
    if (!edge && !wrap) part = g.slice(part, axis, count - 1, count, -1);
    parts.push_back(placed(g, part, padded, at));
  };
  give_back(0, begin, edge ? 0 : wrap ? size - begin : 1);
  give_back(begin + size, end, edge ? size - 1 : wrap ? 0 : size - 1 - end);
  return sum_parts(g, parts);
}

TensorId sum_of_all(GradientBuilder& g, TensorId a) {
  Integers axes(g.shape(a).size());
  std::iota(axes.begin(), axes.end(), 0);
  return g.reduce_sum(a, std::move(axes), false);
}

}  // namespace

TensorId with_zeros(OpWriter& writer, TensorId a, Integers begins, const Integers& ends) {
  const auto is_zero = [](std::int64_t pad) { return pad == 0; };
  if (std::ranges::all_of(begins, is_zero) && std::ranges::all_of(ends, is_zero)) return a;
  begins.insert(begins.end(), ends.begin(), ends.end());
  return writer.add(Op::Pad, {a}, {{Attr::pads, std::move(begins)}, {Attr::mode, std::string("constant")}});
}

// dX = dY at the elements of X, plus dY where an element is repeated; dvalue = Σ dY elsewhere
void pad(GradientBuilder& g) {
  const Integers& pads = g.attributes().integers(Attr::pads);
  const std::string& mode = g.attributes().text(Attr::mode);
  const Shape from = g.input_shape();
  Integers cropped_begins(from.size());
  Integers cropped_ends(from.size());
  TensorId own = g.output_gradient();
  for (std::size_t i = 0; i < from.size(); ++i) {
    cropped_begins[i] = std::max<std::int64_t>(-pads[i], 0);
    cropped_ends[i] = std::max<std::int64_t>(-pads[i + from.size()], 0);
    const PaddedAxis padded{static_cast<std::int64_t>(i), std::max<std::int64_t>(pads[i], 0),
                            from[i] - cropped_begins[i] - cropped_ends[i],
                            std::max<std::int64_t>(pads[i + from.size()], 0)};
    if (padded.begin == 0 && padded.end == 0) continue;
    own = mode == "constant" ? g.slice(own, padded.axis, padded.begin, padded.size) : folded(g, own, padded, mode);
  }
  if (g.needs(0)) g.accumulate(0, with_zeros(g, own, cropped_begins, cropped_ends));
  if (g.needs(1) && mode == "constant") {
    const TensorId value = g.minus(sum_of_all(g, g.output_gradient()), sum_of_all(g, own));
    g.accumulate(1, g.reshape(value, g.input_shape(1)));
  }
}

}  // namespace monet::training
