// MobileNet-V2 (Sandler et al. 2018) as in torchvision; the classifier's dropout is left out.
#include "networks/layers.h"
#include "networks/network.h"

#include <fmt/format.h>

#include <array>

namespace monet::networks {

namespace {

// One row of table 2 of the paper: expansion factor, output channels, repetitions, stride of the first.
struct Stage {
  std::int64_t expansion, channels, blocks, stride;
};
constexpr std::array<Stage, 7> stages{
    {{1, 16, 1, 1}, {6, 24, 2, 2}, {6, 32, 3, 2}, {6, 64, 4, 2}, {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}}};
constexpr std::int64_t stem_channels = 32;
constexpr std::int64_t last_channels = 1280;

TensorId convolution_norm_clip(GraphBuilder& builder, const std::string& name, TensorId x, const Convolution& sizes) {
  x = batch_norm(builder, name + ".1", convolution(builder, name + ".0", x, sizes));
  return builder.add(Op::Clip, name + ".2", {x}, {{Attr::min, 0.0}, {Attr::max, 6.0}});
}

TensorId inverted_residual(GraphBuilder& builder, const std::string& name, TensorId x, const Stage& stage,
                           std::int64_t stride) {
  const TensorId identity = x;
  const std::int64_t inputs = axis_size(builder, x, 1);
  const std::int64_t hidden = inputs * stage.expansion;
  int layer = 0;
  const auto next = [&] { return fmt::format("{}.conv.{}", name, layer++); };
  if (stage.expansion != 1) x = convolution_norm_clip(builder, next(), x, {.channels = hidden, .kernel = 1});
  x = convolution_norm_clip(builder, next(), x, {.channels = hidden, .kernel = 3, .stride = stride, .groups = hidden});
  x = convolution(builder, next(), x, {.channels = stage.channels, .kernel = 1});
  x = batch_norm(builder, next(), x);
  if (stride != 1 || inputs != stage.channels) return x;
  return builder.add(Op::Add, name + ".add", {identity, x});
}

Expected<Graph> build_mobilenet(const BuiltinInfo& info, const OptionValues& values) {
  GraphBuilder builder(info.name);
  TensorId x = builder.input("input", {values["batch"], 3, values["image"], values["image"]});
  x = convolution_norm_clip(builder, "features.0", x, {.channels = stem_channels, .kernel = 3, .stride = 2});
  int feature = 1;
  for (const Stage& stage : stages) {
    for (std::int64_t i = 0; i < stage.blocks; ++i) {
      x = inverted_residual(builder, fmt::format("features.{}", feature++), x, stage, i == 0 ? stage.stride : 1);
    }
  }
  x = convolution_norm_clip(builder, fmt::format("features.{}", feature), x, {.channels = last_channels, .kernel = 1});
  x = fully_connected(builder, "classifier.1", global_mean(builder, "pool", x), values["classes"]);
  return finish(builder, x, "logits");
}

}  // namespace

std::vector<BuiltinNetwork> mobilenet_networks() {
  return {network("mobilenet-v2", "MobileNet-V2 for ImageNet", {image_option(224, 32), classes_option(1000)},
                  build_mobilenet)};
}

}  // namespace monet::networks
