#include "onnx/node_export.h"

namespace monet::onnx {

namespace {

using Integers = std::vector<std::int64_t>;

void reshape(NodeExport& node) { node.emit_reshape(node.input(0)); }

void expand(NodeExport& node) { node.emit("Expand", {node.input(0), node.integers(node.output_shape())}); }

// One past the last element. Before the first element is what ONNX writes as one before -size.
std::int64_t slice_end(std::int64_t start, std::int64_t step, std::int64_t count, std::int64_t size) {
  if (count == 0) return start;
  const std::int64_t last = start + (count - 1) * step;
  if (step > 0) return last + 1;
  return last > 0 ? last - 1 : -size - 1;
}

void slice(NodeExport& node) {
  const Attributes& attributes = node.attributes();
  const Integers& axes = attributes.integers(Attr::axes);
  const Integers& starts = attributes.integers(Attr::starts);
  const Integers& steps = attributes.integers(Attr::steps);
  if (axes.empty()) return node.emit("Identity", {node.input(0)});
  Integers ends;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<std::size_t>(axes[i]);
    ends.push_back(slice_end(starts[i], steps[i], node.output_shape()[axis], node.shape(0)[axis]));
  }
  const bool every_element = steps == Integers(steps.size(), 1);
  node.emit("Slice", {node.input(0), node.integers(starts), node.integers(ends), node.integers(axes),
                      every_element ? Text() : node.integers(steps)});
}

void split(NodeExport& node) {
  const Integers& sizes = node.attributes().integers(Attr::split);
  node.emit("Split", {node.input(0), node.integers(sizes)}, same_attributes(node.attributes(), {Attr::split}),
            sizes.size());
}

}  // namespace

ExportRule view_export(const Graph&, const Node& node) {
  switch (node.op) {
    case Op::Reshape: return reshape;
    case Op::Expand: return expand;
    case Op::Slice: return slice;
    case Op::Split: return split;
    default: return export_as_is;
  }
}

}  // namespace monet::onnx
