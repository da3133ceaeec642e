#include "onnx/import/resize.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace monet::onnx {

namespace {

// What the versions share; sizes and scales stand for every axis.
struct ResizeAttributes {
  std::string mode = "nearest";
  std::string coordinate_mode = "asymmetric";
  std::string nearest_mode = "floor";
  double cubic_coeff_a = -0.75;
  std::int64_t exclude_outside = 0;
  double extrapolation_value = 0;
  std::vector<double> scales;
  std::vector<double> region;
  Shape sizes;
};

void emit(NodeImport& node, ResizeAttributes resampling) {
  node.emit(Op::Resize, {node.input(0)},
            {{Attr::mode, std::move(resampling.mode)},
             {Attr::scales, std::move(resampling.scales)},
             {Attr::coordinate_mode, std::move(resampling.coordinate_mode)},
             {Attr::nearest_mode, std::move(resampling.nearest_mode)},
             {Attr::cubic_coeff_a, resampling.cubic_coeff_a},
             {Attr::exclude_outside, resampling.exclude_outside},
             {Attr::extrapolation_value, resampling.extrapolation_value},
             {Attr::antialias, std::int64_t{0}},
             {Attr::roi, std::move(resampling.region)},
             {Attr::shape, std::move(resampling.sizes)}});
}

// Scales are single precision in the file, and so is their product with a size: 10 x 0.7 is 7.
bool set_sizes_from_scales(NodeImport& node, ResizeAttributes& resampling) {
  const Shape& from = node.shape(0);
  if (resampling.scales.size() != from.size()) {
    node.fail(fmt::format("{} has {} scales for {}", node.op_type(), resampling.scales.size(), to_string(from)));
    return false;
  }
  for (std::size_t axis = 0; axis < from.size(); ++axis) {
    const float size = std::floor(static_cast<float>(from[axis]) * static_cast<float>(resampling.scales[axis]));
    if (!(size >= 0 && size < 1e15F)) {
      node.fail(
          fmt::format("{} cannot scale an axis of {} by {}", node.op_type(), from[axis], resampling.scales[axis]));
      return false;
    }
    resampling.sizes.push_back(static_cast<std::int64_t>(size));
  }
  return true;
}

// Sizes that may be bounds: all axes listed get one scale, the smallest or largest that the sizes ask for.
void keep_aspect_ratio(NodeImport& node, const std::string& policy, const std::vector<std::int64_t>& axes,
                       ResizeAttributes& resampling) {
  const Shape& from = node.shape(0);
  if (policy != "not_larger" && policy != "not_smaller") {
    return node.fail(fmt::format("Resize has no keep_aspect_ratio_policy '{}'", policy));
  }
  if (axes.empty()) return;
  const auto scale_of = [&](std::int64_t axis) { return resampling.scales[static_cast<std::size_t>(axis)]; };
  double scale = scale_of(axes[0]);
  for (std::int64_t axis : axes) {
    scale = policy == "not_larger" ? std::min(scale, scale_of(axis)) : std::max(scale, scale_of(axis));
  }
  for (std::int64_t axis : axes) {
    const auto at = static_cast<std::size_t>(axis);
    resampling.scales[at] = scale;
    const double size = std::floor(scale * static_cast<double>(from[at]) + 0.5);
    if (!(size >= 0 && size < 1e15))
      return node.fail(fmt::format("Resize cannot scale an axis of {} by {}", from[at], scale));
    resampling.sizes[at] = static_cast<std::int64_t>(size);
  }
}

// The axes that sizes, scales and region speak of: all unless `axes` says otherwise. In the order of the file.
std::vector<std::int64_t> listed_axes(NodeImport& node) {
  const std::size_t rank = node.rank(0);
  std::vector<std::int64_t> axes;
  if (!node.has_attribute("axes")) {
    for (std::size_t axis = 0; axis < rank; ++axis) axes.push_back(static_cast<std::int64_t>(axis));
    return axes;
  }
  for (std::int64_t axis : node.integers("axes")) {
    axes.push_back(node.axis(axis, rank));
    if (std::ranges::count(axes, axes.back()) > 1) node.fail(fmt::format("Resize names axis {} twice", axis));
  }
  return axes;
}

// `values` hold for `axes`, `otherwise` for the rest.
template <class T>
std::vector<T> spread(NodeImport& node, std::string_view what, const std::vector<T>& values,
                      const std::vector<std::int64_t>& axes, std::vector<T> otherwise) {
  if (values.size() != axes.size()) {
    node.fail(fmt::format("Resize has {} {} for {} axes", values.size(), what, axes.size()));
    return otherwise;
  }
  for (std::size_t i = 0; i < axes.size(); ++i) otherwise[static_cast<std::size_t>(axes[i])] = values[i];
  return otherwise;
}

void set_region(NodeImport& node, const std::vector<std::int64_t>& axes, ResizeAttributes& resampling) {
  if (!node.has_input(1)) return node.fail("Resize by tf_crop_and_resize has no region");
  const auto written = node.required_reals(1);
  if (node.failed()) return;
  if (written.size() != 2 * axes.size()) {
    return node.fail(fmt::format("Resize has a region of {} numbers for {} axes", written.size(), axes.size()));
  }
  const std::size_t rank = node.rank(0);
  resampling.region.assign(2 * rank, 0.0);
  std::fill(resampling.region.begin() + static_cast<std::ptrdiff_t>(rank), resampling.region.end(), 1.0);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    resampling.region[static_cast<std::size_t>(axes[i])] = written[i];
    resampling.region[rank + static_cast<std::size_t>(axes[i])] = written[i + axes.size()];
  }
}

void set_sizes(NodeImport& node, const std::vector<std::int64_t>& axes, ResizeAttributes& resampling) {
  const Shape& from = node.shape(0);
  resampling.sizes = spread(node, "sizes", node.required_integers(3), axes, from);
  if (node.failed()) return;
  for (std::size_t axis = 0; axis < from.size(); ++axis) {
    const bool same = resampling.sizes[axis] == from[axis];
    resampling.scales.push_back(same ? 1.0
                                     : static_cast<double>(resampling.sizes[axis]) / static_cast<double>(from[axis]));
  }
  const std::string policy = node.text("keep_aspect_ratio_policy", "stretch");
  if (policy != "stretch") keep_aspect_ratio(node, policy, axes, resampling);
}

// Before opset 11, as the reference implementation has it: corners fixed, up to the lower and down to the upper
// neighbour.
void import_early(NodeImport& node, std::vector<double> scales) {
  ResizeAttributes resampling;
  resampling.mode = node.text("mode", "nearest");
  if (resampling.mode == "bilinear") resampling.mode = "linear";
  resampling.scales = std::move(scales);
  const bool enlarges = std::ranges::any_of(resampling.scales, [](double scale) { return scale > 1; });
  const bool shrinks = std::ranges::any_of(resampling.scales, [](double scale) { return scale < 1; });
  if (enlarges && shrinks && resampling.mode == "nearest") {
    return node.fail(fmt::format("{} enlarges one axis and shrinks another", node.op_type()),
                     "write the model with opset 11 or later");
  }
  if (shrinks) resampling.nearest_mode = "ceil";
  if (node.failed() || !set_sizes_from_scales(node, resampling)) return;
  emit(node, std::move(resampling));
}

}  // namespace

void import_upsample(NodeImport& node) {
  import_early(node, node.version() < 9 ? node.reals("scales") : node.required_reals(1));
}

void import_resize(NodeImport& node) {
  if (node.version() < 11) return import_early(node, node.required_reals(1));
  if (node.integer("antialias", 0) != 0) {
    return node.fail("Resize with antialias is not supported", "export the model with antialias 0");
  }
  ResizeAttributes resampling;
  resampling.mode = node.text("mode", "nearest");
  resampling.coordinate_mode = node.text("coordinate_transformation_mode", "half_pixel");
  resampling.nearest_mode = node.text("nearest_mode", "round_prefer_floor");
  resampling.cubic_coeff_a = node.real("cubic_coeff_a", -0.75);
  resampling.exclude_outside = node.integer("exclude_outside", 0);
  resampling.extrapolation_value = node.real("extrapolation_value", 0);
  const auto axes = listed_axes(node);
  if (node.failed()) return;
  if (resampling.coordinate_mode == "tf_crop_and_resize") set_region(node, axes, resampling);
  std::vector<double> scales;
  if (node.has_input(2)) scales = node.required_reals(2);
  if (node.failed()) return;
  if (scales.empty() && node.has_input(3)) {
    set_sizes(node, axes, resampling);
  } else {
    node.ignore({"keep_aspect_ratio_policy"});
    resampling.scales = spread(node, "scales", scales, axes, std::vector<double>(node.rank(0), 1.0));
    if (!node.failed()) set_sizes_from_scales(node, resampling);
  }
  if (!node.failed()) emit(node, std::move(resampling));
}

}  // namespace monet::onnx
