#include "onnx/node_export.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace monet::onnx {

namespace {

// How ONNX is told the scales and the output's sizes, which both matter: positions follow from the scales.
struct Resampling {
  bool by_sizes = false;
  std::vector<std::int64_t> sizes;  // by sizes
  std::vector<std::int64_t> axes;   // by sizes that are bounds: what they bound
  std::vector<double> scales;       // otherwise
};

// Runtimes calculate in single precision.
bool scales_give(const Shape& from, const std::vector<double>& scales, const Shape& to) {
  for (std::size_t i = 0; i < from.size(); ++i) {
    const float size = std::floor(static_cast<float>(from[i]) * static_cast<float>(scales[i]));
    if (size != static_cast<float>(to[i])) return false;
  }
  return true;
}

// Whether the sizes alone tell the scale.
bool is_ratio(double scale, std::int64_t from, std::int64_t to) {
  return static_cast<float>(scale) == (from == to ? 1.0F : static_cast<float>(to) / static_cast<float>(from));
}

// One scale for several axes, which one axis meets exactly: sizes that are bounds, and those of the others are not met.
std::optional<Resampling> by_bounds(const Shape& from, const std::vector<double>& scales, const Shape& to) {
  Resampling result{.by_sizes = true, .sizes = {}, .axes = {}, .scales = {}};
  std::optional<double> scale;
  bool met = false;
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (scales[i] == 1 && from[i] == to[i]) continue;
    if (scale && *scale != scales[i]) return std::nullopt;
    scale = scales[i];
    const bool exact = is_ratio(scales[i], from[i], to[i]);
    met |= exact;
    if (!exact && std::floor(*scale * static_cast<double>(from[i]) + 0.5) != static_cast<double>(to[i]))
      return std::nullopt;
    result.axes.push_back(static_cast<std::int64_t>(i));
    result.sizes.push_back(exact ? to[i] : to[i] + 1);
  }
  return met ? std::optional(result) : std::nullopt;
}

std::optional<Resampling> resampling(const Shape& from, const Attributes& attributes) {
  const Shape& to = attributes.integers(Attr::shape);
  const auto& scales = attributes.reals(Attr::scales);
  bool proportional = true;
  for (std::size_t i = 0; i < from.size(); ++i) proportional &= is_ratio(scales[i], from[i], to[i]);
  if (proportional) return Resampling{.by_sizes = true, .sizes = to, .axes = {}, .scales = {}};
  if (scales_give(from, scales, to)) return Resampling{.by_sizes = false, .sizes = {}, .axes = {}, .scales = scales};
  return by_bounds(from, scales, to);
}

Text reals(NodeExport& node, std::vector<double> values) {
  const auto count = static_cast<std::int64_t>(values.size());
  return node.constant(Constant::reals(ElementType::float32, {count}, std::move(values)));
}

void resize(NodeExport& node) {
  const Attributes& attributes = node.attributes();
  const Resampling chosen = *resampling(node.shape(0), attributes);
  OnnxAttributes written =
      same_attributes(attributes, {Attr::scales, Attr::shape, Attr::roi, Attr::coordinate_mode, Attr::antialias});
  written.push_back({"coordinate_transformation_mode", attributes.text(Attr::coordinate_mode)});
  if (!chosen.axes.empty()) {
    written.push_back({"axes", chosen.axes});
    written.push_back({"keep_aspect_ratio_policy", std::string("not_larger")});
  }
  Text region;
  if (attributes.text(Attr::coordinate_mode) == "tf_crop_and_resize") {
    const auto& roi = attributes.reals(Attr::roi);
    std::vector<double> listed;
    for (std::size_t i = 0; i < roi.size(); ++i) {
      const auto axis = static_cast<std::int64_t>(i % (roi.size() / 2));
      if (chosen.axes.empty() || std::ranges::find(chosen.axes, axis) != chosen.axes.end()) listed.push_back(roi[i]);
    }
    region = reals(node, listed);
  }
  const Text scales = chosen.by_sizes ? Text() : reals(node, chosen.scales);
  const Text sizes = chosen.by_sizes ? node.integers(chosen.sizes) : Text();
  node.emit("Resize", {node.input(0), region, scales, sizes}, std::move(written));
}

}  // namespace

ExportRule resize_export(const Graph& graph, const Node& node) {
  return resampling(graph[node.inputs[0]].type.shape, node.attributes) ? resize : nullptr;
}

}  // namespace monet::onnx
