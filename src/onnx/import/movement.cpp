#include "onnx/node_import.h"

#include "base/checked.h"
#include "onnx/import/resize.h"

#include <fmt/format.h>

#include <array>

namespace monet::onnx {

namespace {

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
