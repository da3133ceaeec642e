// Residual networks (He et al. 2016) in the forms that are measured: torchvision's for ImageNet, the one for CIFAR, and
// the two of the published training study, whose batch norms are folded into the convolutions.
#include "networks/layers.h"
#include "networks/network.h"

#include <fmt/format.h>

#include <array>

namespace monet::networks {

namespace {

constexpr std::array<std::int64_t, 4> stage_channels{64, 128, 256, 512};
constexpr std::int64_t bottleneck_expansion = 4;

struct Form {
  std::array<std::int64_t, 4> blocks;  // of each stage
  bool bottleneck = false;
  std::int64_t widening = 1;  // of the 3x3 convolution inside a bottleneck
  std::int64_t stem_kernel = 7;
  std::int64_t stem_stride = 2;
  bool max_pool = true;
  bool folded = false;        // convolutions with bias (the first without) in place of norms
  bool average_pool = false;  // AveragePool with a window, not a mean over axes
  std::string shortcut = "downsample";
  std::string head = "fc";
};

class ResNet {
 public:
  ResNet(const std::string& name, Form form) : builder_(name), form_(std::move(form)) {}

  Expected<Graph> build(const OptionValues& values) {
    TensorId x = builder_.input("input", {values["batch"], 3, values["image"], values["image"]});
    x = convolution(builder_, "conv1", x,
                    {.channels = stage_channels[0], .kernel = form_.stem_kernel, .stride = form_.stem_stride});
    if (!form_.folded) x = batch_norm(builder_, "bn1", x);
    x = relu(builder_, "relu", x);
    if (form_.max_pool) x = max_pool(builder_, "maxpool", x, 3, 2, 1);
    for (std::size_t stage = 0; stage < 4; ++stage) {
      for (std::int64_t i = 0; i < form_.blocks[stage]; ++i) {
        x = block(fmt::format("layer{}.{}", stage + 1, i), x, stage_channels[stage], stage > 0 && i == 0 ? 2 : 1);
      }
    }
    x = form_.average_pool ? global_average_pool(builder_, "avgpool", x) : global_mean(builder_, "avgpool", x);
    return finish(builder_, fully_connected(builder_, form_.head, x, values["classes"]), "logits");
  }

 private:
  TensorId convolution_norm(const std::string& conv, const std::string& norm, TensorId x, Convolution sizes) {
    sizes.bias = form_.folded;
    x = convolution(builder_, conv, x, sizes);
    return form_.folded ? x : batch_norm(builder_, norm, x);
  }

  TensorId block(const std::string& name, TensorId x, std::int64_t channels, std::int64_t stride) {
    std::vector<Convolution> layers{{.channels = channels, .kernel = 3, .stride = stride},
                                    {.channels = channels, .kernel = 3}};
    if (form_.bottleneck) {  // torchvision has the stride in the 3x3 convolution
      const std::int64_t inner = channels * form_.widening;
      layers = {{.channels = inner, .kernel = 1},
                {.channels = inner, .kernel = 3, .stride = stride},
                {.channels = channels * bottleneck_expansion, .kernel = 1}};
    }
    TensorId y = x;
    for (std::size_t i = 0; i < layers.size(); ++i) {
      if (i > 0) y = relu(builder_, fmt::format("{}.relu{}", name, i), y);
      y = convolution_norm(fmt::format("{}.conv{}", name, i + 1), fmt::format("{}.bn{}", name, i + 1), y, layers[i]);
    }
    const std::int64_t outputs = layers.back().channels;
    if (stride != 1 || axis_size(builder_, x, 1) != outputs) {
      const std::string shortcut = fmt::format("{}.{}", name, form_.shortcut);
      x = convolution_norm(shortcut + ".0", shortcut + ".1", x, {.channels = outputs, .kernel = 1, .stride = stride});
    }
    y = builder_.add(Op::Add, name + ".add", {y, x});
    return relu(builder_, fmt::format("{}.relu{}", name, layers.size()), y);
  }

  GraphBuilder builder_;
  Form form_;
};

constexpr std::array<std::int64_t, 4> blocks_18{2, 2, 2, 2};
constexpr std::array<std::int64_t, 4> blocks_34{3, 4, 6, 3};  // and of ResNet-50
constexpr std::array<std::int64_t, 4> blocks_101{3, 4, 23, 3};

// Names and pooling of the network whose training graphs were published.
void make_folded(Form& form) {
  form.folded = true;
  form.average_pool = true;
  form.shortcut = "shortcut";
  form.head = "linear";
}

Expected<Graph> build_imagenet_18(const BuiltinInfo& info, const OptionValues& values) {
  return ResNet(info.name, {.blocks = blocks_18}).build(values);
}

Expected<Graph> build_imagenet_34(const BuiltinInfo& info, const OptionValues& values) {
  return ResNet(info.name, {.blocks = blocks_34}).build(values);
}

Expected<Graph> build_imagenet_50(const BuiltinInfo& info, const OptionValues& values) {
  return ResNet(info.name, {.blocks = blocks_34, .bottleneck = true}).build(values);
}

// Zagoruyko and Komodakis 2016, as in torchvision: twice the channels inside the bottlenecks.
Expected<Graph> build_wide_50(const BuiltinInfo& info, const OptionValues& values) {
  return ResNet(info.name, {.blocks = blocks_34, .bottleneck = true, .widening = 2}).build(values);
}

Expected<Graph> build_wide_101(const BuiltinInfo& info, const OptionValues& values) {
  return ResNet(info.name, {.blocks = blocks_101, .bottleneck = true, .widening = 2}).build(values);
}

Expected<Graph> build_cifar(const BuiltinInfo& info, const OptionValues& values) {
  Form form{.blocks = blocks_18, .stem_kernel = 3, .stem_stride = 1, .max_pool = false};
  if (values.is_on("folded")) make_folded(form);
  return ResNet(info.name, form).build(values);
}

// The network of the checkpointing study. Its saved activations at batch 1 are the 17 outputs of ReLU, which the next
// convolution and ReluGrad read, and the classifier's input:
//   5 x 64 x 112^2 + 4 x 128 x 56^2 + 4 x 256 x 28^2 + 4 x 512 x 14^2 + 512 = 6,824,448 elements,
// 13.65 MB at 2 bytes: the published total, and the published number of 18.
Expected<Graph> build_checkpointing_study(const BuiltinInfo& info, const OptionValues& values) {
  Form form{.blocks = blocks_18, .max_pool = false, .average_pool = true};
  if (values.is_on("folded")) make_folded(form);
  return ResNet(info.name, form).build(values);
}

}  // namespace

std::vector<BuiltinNetwork> resnet_networks() {
  const auto folded = [](bool by_default) {
    return switch_option("folded", "batch norms folded into the convolutions", by_default);
  };
  const std::vector<OptionInfo> imagenet{image_option(224, 32), classes_option(1000)};
  return {network("resnet18", "ResNet-18 for ImageNet, as in torchvision", imagenet, build_imagenet_18),
          network("resnet34", "ResNet-34 for ImageNet, as in torchvision", imagenet, build_imagenet_34),
          network("resnet50", "ResNet-50 for ImageNet, as in torchvision", imagenet, build_imagenet_50),
          network("wide-resnet50-2", "ResNet-50 with bottlenecks twice as wide", imagenet, build_wide_50),
          network("wide-resnet101-2", "ResNet-101 with bottlenecks twice as wide", imagenet, build_wide_101),
          network("resnet18-cifar", "ResNet-18 for CIFAR: 3x3 stem, no max-pool",
                  {image_option(32, 8), classes_option(10), folded(false)}, build_cifar),
          network("resnet18-cifar-folded", "resnet18-cifar as in the published training graph: norms folded, batch 4",
                  {image_option(32, 8), classes_option(10), folded(true)}, build_cifar, 4),
          network("resnet18-224", "ResNet-18 of the published checkpointing study: norms folded, no max-pool",
                  {image_option(224, 16), classes_option(100), folded(true)}, build_checkpointing_study)};
}

}  // namespace monet::networks
