#include "onnx/node_import.h"

#include <array>

namespace monet::onnx {

namespace {

// Training is an attribute since opset 14. Before it the number of outputs told: one in inference, five (statistics
// that the backward pass was to reuse came last) in training.
void batch_normalization(NodeImport& node) {
  std::int64_t training = node.integer("training_mode", 0);
  if (node.version() < 14) training = node.output_count() > 1 ? 1 : 0;
  if (node.integer("spatial", 1) == 0) {
    node.fail("normalizes each position of a channel by itself (spatial = 0), which is not read");
  }
  std::vector<TensorId> inputs = {node.input(0), node.input(1), node.input(2), node.input(3), node.input(4)};
  const Attributes attributes = {{Attr::epsilon, node.real("epsilon", 1e-5)},
                                 {Attr::momentum, node.real("momentum", 0.9)},
                                 {Attr::training_mode, training}};
  if (node.output_count() <= 3) {
    node.emit(Op::BatchNormalization, std::move(inputs), attributes);
    return;
  }
  const auto outputs = node.make_many(Op::BatchNormalization, std::move(inputs), attributes, 3);
  for (std::size_t i = 0; i < outputs.size(); ++i) node.alias(i, outputs[i]);
  // The saved statistics are bound to nothing a tensor operator can read: whoever uses them is told.
  for (std::size_t i = outputs.size(); i < node.output_count(); ++i) node.set_sequence(i, {});
}

Attributes layer_attributes(NodeImport& node, double epsilon) {
  node.ignore({"stash_type"});
  return {{Attr::axis, node.axis(node.integer("axis", -1), node.rank(0))},
          {Attr::epsilon, node.real("epsilon", epsilon)}};
}

void layer_normalization(NodeImport& node) {
  node.emit(Op::LayerNormalization, {node.input(0), node.input(1), node.input(2)}, layer_attributes(node, 1e-5));
}

void rms_normalization(NodeImport& node) {
  node.emit(Op::RMSNormalization, {node.input(0), node.input(1)}, layer_attributes(node, 1e-5));
}

// The input, another one that skipped some layers and perhaps a bias are added and normalized together. Outputs: the
// result, mean, inverse deviation, that sum.
void skip_normalization(NodeImport& node, Op op, std::size_t bias_at) {
  const bool centred = op == Op::LayerNormalization;
  if (!centred && node.has_output(1)) node.fail("gives a mean, which it does not calculate", "leave output 2 away");
  TensorId sum = node.make(Op::Add, {node.input(0), node.input(1)});
  if (node.has_input(bias_at)) sum = node.make(Op::Add, {sum, node.input(bias_at)});
  std::vector<TensorId> inputs = {sum, node.input(2)};
  if (centred) inputs.push_back(node.input(3));
  const bool statistics = node.has_output(1) || node.has_output(2);
  const std::size_t wanted = !statistics ? 1 : centred ? 3 : 2;
  const auto outputs = node.make_many(op, std::move(inputs), layer_attributes(node, 1e-12), wanted);
  node.alias(0, outputs.front());
  if (statistics && centred) node.alias(1, outputs[1]);
  if (statistics) node.alias(2, outputs.back());
  if (node.has_output(3)) node.alias(3, sum);
}

void skip_layer_normalization(NodeImport& node) { skip_normalization(node, Op::LayerNormalization, 4); }
void skip_rms_normalization(NodeImport& node) { skip_normalization(node, Op::RMSNormalization, 3); }

// One value for each group, repeated for the channels of the group.
TensorId per_channel(NodeImport& node, std::size_t input, std::int64_t groups, std::int64_t channels) {
  const TensorId column = node.make(Op::Reshape, {node.input(input)}, {{Attr::shape, Shape{groups, 1}}});
  const TensorId repeated = node.make(Op::Expand, {column}, {{Attr::shape, Shape{groups, channels / groups}}});
  return node.make(Op::Reshape, {repeated}, {{Attr::shape, Shape{channels}}});
}

// Scale and bias are given by group in opset 18 to 20 and by channel after it.
void group_normalization(NodeImport& node) {
  node.ignore({"stash_type"});
  const std::int64_t groups = node.integer("num_groups", 0);
  const Attributes attributes = {{Attr::num_groups, groups}, {Attr::epsilon, node.real("epsilon", 1e-5)}};
  TensorId scale = node.input(1);
  TensorId bias = node.input(2);
  if (node.version() < 21 && node.rank(0) >= 2) {
    const std::int64_t channels = node.shape(0)[1];
    if (groups < 1 || channels % groups != 0) {
      node.fail("cannot divide " + std::to_string(channels) + " channels into " + std::to_string(groups) + " groups");
      return;
    }
    scale = per_channel(node, 1, groups, channels);
    bias = per_channel(node, 2, groups, channels);
  }
  node.emit(Op::GroupNormalization, {node.input(0), scale, bias}, attributes);
}

void instance_normalization(NodeImport& node) {
  node.emit(Op::InstanceNormalization, {node.input(0), node.input(1), node.input(2)},
            {{Attr::epsilon, node.real("epsilon", 1e-5)}});
}

void lp_normalization(NodeImport& node) {
  node.emit(Op::LpNormalization, {node.input(0)},
            {{Attr::axis, node.axis(node.integer("axis", -1), node.rank(0))}, {Attr::p, node.integer("p", 2)}});
}

void mean_variance_normalization(NodeImport& node) {
  node.emit(Op::MeanVarianceNormalization, {node.input(0)},
            {{Attr::axes, node.axes(node.integers("axes", {0, 2, 3}), node.rank(0))}});
}

void local_response_normalization(NodeImport& node) {
  node.emit(Op::LRN, {node.input(0)},
            {{Attr::alpha, node.real("alpha", 1e-4)},
             {Attr::beta, node.real("beta", 0.75)},
             {Attr::bias, node.real("bias", 1.0)},
             {Attr::size, node.integer("size", 0)}});
}

constexpr std::array norm_entries = {
    ImportEntry{"", "BatchNormalization", batch_normalization},
    ImportEntry{"", "GroupNormalization", group_normalization},
    ImportEntry{"", "InstanceNormalization", instance_normalization},
    ImportEntry{"", "LRN", local_response_normalization},
    ImportEntry{"", "LayerNormalization", layer_normalization},
    ImportEntry{"", "LpNormalization", lp_normalization},
    ImportEntry{"", "MeanVarianceNormalization", mean_variance_normalization},
    ImportEntry{"", "RMSNormalization", rms_normalization},
    ImportEntry{"", "SimplifiedLayerNormalization", rms_normalization},
    ImportEntry{"com.microsoft", "LayerNormalization", layer_normalization},
    ImportEntry{"com.microsoft", "SimplifiedLayerNormalization", rms_normalization},
    ImportEntry{"com.microsoft", "SkipLayerNormalization", skip_layer_normalization},
    ImportEntry{"com.microsoft", "SkipSimplifiedLayerNormalization", skip_rms_normalization},
};

}  // namespace

std::span<const ImportEntry> norm_rules() { return norm_entries; }

}  // namespace monet::onnx
