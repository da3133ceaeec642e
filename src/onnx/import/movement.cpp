#include "base/checked.h"
#include "onnx/node_import.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
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

// The rules that resample: Resize in its versions, and Upsample, its predecessor.
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

void emit_pad(NodeImport& node, std::vector<std::int64_t> pads, std::string mode, TensorId value) {
  std::vector<TensorId> inputs = {node.input(0)};
  if (value.valid() && mode == "constant") inputs.push_back(value);
  node.emit(Op::Pad, std::move(inputs), {{Attr::pads, std::move(pads)}, {Attr::mode, std::move(mode)}});
}

void pad_by_attribute(NodeImport& node) {
  const double value = node.real("value", 0);
  TensorId constant;
  if (value != 0) constant = node.make_constant(Constant::reals(node.type(0), {}, {value}));
  emit_pad(node, node.integers("pads"), node.text("mode", "constant"), constant);
}

// Pads may be given for some axes only.
void pad(NodeImport& node) {
  if (node.version() < 11) return pad_by_attribute(node);
  const auto written = node.required_integers(1);
  const std::size_t rank = node.rank(0);
  std::vector<std::int64_t> pads = written;
  if (node.has_input(3)) {
    const auto axes = node.required_integers(3);
    if (node.failed()) return;
    if (written.size() != 2 * axes.size()) {
      return node.fail(fmt::format("Pad has {} pads for {} axes", written.size(), axes.size()));
    }
    pads.assign(2 * rank, 0);
    for (std::size_t i = 0; i < axes.size(); ++i) {
      const auto axis = static_cast<std::size_t>(node.axis(axes[i], rank));
      if (node.failed()) return;
      pads[axis] = written[i];
      pads[axis + rank] = written[i + axes.size()];
    }
  }
  emit_pad(node, std::move(pads), node.text("mode", "constant"), node.input(2));
}

// A crop is a negative pad; what is odd goes to the end.
void center_crop_pad(NodeImport& node) {
  const auto sizes = node.required_integers(1);
  const Shape from = node.shape(0);
  std::vector<std::int64_t> axes;
  for (std::size_t axis = 0; axis < from.size(); ++axis) axes.push_back(static_cast<std::int64_t>(axis));
  axes = node.integers("axes", axes);
  if (node.failed()) return;
  if (sizes.size() != axes.size()) {
    return node.fail(fmt::format("CenterCropPad has {} sizes for {} axes", sizes.size(), axes.size()));
  }
  std::vector<std::int64_t> pads(2 * from.size(), 0);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<std::size_t>(node.axis(axes[i], from.size()));
    if (node.failed()) return;
    if (sizes[i] < 0) return node.fail(fmt::format("CenterCropPad asks for the size {}", sizes[i]));
    const std::int64_t difference = sizes[i] - from[axis];
    pads[axis] = difference / 2;
    pads[axis + from.size()] = difference - difference / 2;
  }
  emit_pad(node, std::move(pads), "constant", {});
}

void tile(NodeImport& node) { node.emit(Op::Tile, {node.input(0)}, {{Attr::repeats, node.required_integers(1)}}); }

template <Op op>
void gather_along_axis(NodeImport& node) {
  const std::int64_t axis = node.axis(node.integer("axis", 0), node.rank(0));
  node.emit(op, {node.input(0), node.input(1)}, {{Attr::axis, axis}});
}

void gather_nd(NodeImport& node) {
  node.emit(Op::GatherND, node.inputs(), {{Attr::batch_dims, node.integer("batch_dims", 0)}});
}

void scatter_elements(NodeImport& node) {
  const std::int64_t axis = node.axis(node.integer("axis", 0), node.rank(0));
  node.emit(Op::ScatterElements, node.inputs(),
            {{Attr::axis, axis}, {Attr::reduction, node.text("reduction", "none")}});
}

void scatter_nd(NodeImport& node) {
  node.emit(Op::ScatterND, node.inputs(), {{Attr::reduction, node.text("reduction", "none")}});
}

void trilu(NodeImport& node) {
  const std::int64_t k = node.has_input(1) ? node.required_integer(1) : 0;
  node.emit(Op::Trilu, {node.input(0)}, {{Attr::upper, node.integer("upper", 1)}, {Attr::k, k}});
}

void grid_sample(NodeImport& node) {
  std::string mode = node.text("mode", node.version() < 20 ? "bilinear" : "linear");
  if (mode == "bilinear") mode = "linear";
  if (mode == "bicubic") mode = "cubic";
  node.emit(Op::GridSample, node.inputs(),
            {{Attr::mode, mode},
             {Attr::padding_mode, node.text("padding_mode", "zeros")},
             {Attr::align_corners, node.integer("align_corners", 0)}});
}

void one_hot(NodeImport& node) {
  const double depth = node.required_real(1);  // of any numeric type
  if (node.failed()) return;
  if (!(depth >= 1 && depth < 1e15)) return node.fail(fmt::format("OneHot has a depth of {}", depth));
  const std::int64_t axis = node.axis(node.integer("axis", -1), node.rank(0) + 1);
  node.emit(Op::OneHot, {node.input(0), node.input(2)},
            {{Attr::axis, axis}, {Attr::depth, static_cast<std::int64_t>(depth)}});
}

void reverse_sequence(NodeImport& node) {
  node.emit(Op::ReverseSequence, node.inputs(),
            {{Attr::batch_axis, node.axis(node.integer("batch_axis", 1), node.rank(0))},
             {Attr::time_axis, node.axis(node.integer("time_axis", 0), node.rank(0))}});
}

// The size before pooling: (size - 1) stride + kernel - pads, unless the file names it.
void max_unpool(NodeImport& node) {
  const Shape from = node.shape(0);
  const std::size_t spatial = from.size() < 2 ? 0 : from.size() - 2;
  const auto kernel = node.integers("kernel_shape");
  const auto strides = node.integers("strides", std::vector<std::int64_t>(spatial, 1));
  const auto pads = node.integers("pads", std::vector<std::int64_t>(2 * spatial, 0));
  if (node.failed()) return;
  if (spatial == 0 || kernel.size() != spatial || strides.size() != spatial || pads.size() != 2 * spatial) {
    return node.fail(fmt::format("MaxUnpool of {} has {} kernel sizes, {} strides and {} pads", to_string(from),
                                 kernel.size(), strides.size(), pads.size()));
  }
  Shape to = {from[0], from[1]};
  if (node.has_input(2)) {
    to = node.required_integers(2);
  } else {
    for (std::size_t i = 0; i < spatial; ++i) {
      const auto reach = checked_multiply(from[i + 2] - 1, strides[i]);
      auto size = reach ? checked_add(*reach, kernel[i]) : std::nullopt;
      for (std::int64_t edge : {pads[i], pads[i + spatial]}) {
        std::int64_t less = 0;
        size = size && !__builtin_sub_overflow(*size, edge, &less) ? std::optional(less) : std::nullopt;
      }
      to.push_back(size.value_or(-1));
    }
  }
  node.emit(Op::MaxUnpool, {node.input(0), node.input(1)}, {{Attr::shape, std::move(to)}});
}

void sized_by_data(NodeImport& node) {
  node.fail(fmt::format("the size of the output of {} depends on data", node.op_type()),
            "remove it from the model: every shape must be known beforehand");
}

void on_strings(NodeImport& node) { node.fail(fmt::format("{} works on strings, which are not read", node.op_type())); }

constexpr std::array movement_entries = {
    ImportEntry{"", "CenterCropPad", center_crop_pad},
    ImportEntry{"", "Compress", sized_by_data},
    ImportEntry{"", "Gather", gather_along_axis<Op::Gather>},
    ImportEntry{"", "GatherElements", gather_along_axis<Op::GatherElements>},
    ImportEntry{"", "GatherND", gather_nd},
    ImportEntry{"", "GridSample", grid_sample},
    ImportEntry{"", "MaxUnpool", max_unpool},
    ImportEntry{"", "NonMaxSuppression", sized_by_data},
    ImportEntry{"", "NonZero", sized_by_data},
    ImportEntry{"", "OneHot", one_hot},
    ImportEntry{"", "Pad", pad},
    ImportEntry{"", "Resize", import_resize},
    ImportEntry{"", "ReverseSequence", reverse_sequence},
    ImportEntry{"", "Scatter", scatter_elements},
    ImportEntry{"", "ScatterElements", scatter_elements},
    ImportEntry{"", "ScatterND", scatter_nd},
    ImportEntry{"", "StringConcat", on_strings},
    ImportEntry{"", "StringNormalizer", on_strings},
    ImportEntry{"", "StringSplit", on_strings},
    ImportEntry{"", "Tile", tile},
    ImportEntry{"", "Trilu", trilu},
    ImportEntry{"", "Unique", sized_by_data},
    ImportEntry{"", "Upsample", import_upsample},
};

}  // namespace

std::span<const ImportEntry> movement_rules() { return movement_entries; }

}  // namespace monet::onnx
