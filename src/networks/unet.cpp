// A small U-Net (Ronneberger et al. 2015), as the reference model unet.onnx: three levels down and up again, and a mean
// over the image so that it can be trained as a classifier.
#include "networks/layers.h"
#include "networks/network.h"

#include <fmt/format.h>

#include <vector>

namespace monet::networks {

namespace {

constexpr int levels = 3;

// Two convolutions with norms; names count the layers of a torch.nn.Sequential.
TensorId double_convolution(GraphBuilder& builder, const std::string& name, TensorId x, std::int64_t channels) {
  for (int first : {0, 3}) {
    const auto layer = [&](int i) { return fmt::format("{}.{}", name, first + i); };
    x = convolution(builder, layer(0), x, {.channels = channels, .kernel = 3, .bias = true});
    x = relu(builder, layer(2), batch_norm(builder, layer(1), x));
  }
  return x;
}

Expected<Graph> build_unet(const BuiltinInfo& info, const OptionValues& values) {
  const std::int64_t image = values["image"];
  if (image % (1 << levels) != 0) {
    return Error{.message = fmt::format("image={} is not a multiple of {}", image, 1 << levels),
                 .advice = fmt::format("it is halved {} times: choose image={}", levels,
                                       (image / (1 << levels) + 1) * (1 << levels))};
  }
  GraphBuilder builder(info.name);
  const std::int64_t features = values["features"];
  TensorId x = builder.input("input", {values["batch"], 3, image, image});
  std::vector<TensorId> skipped;
  for (int level = 0; level < levels; ++level) {
    skipped.push_back(double_convolution(builder, fmt::format("d.{}", level), x, features << level));
    x = max_pool(builder, fmt::format("pool.{}", level), skipped.back(), 2, 2, 0);
  }
  x = double_convolution(builder, "mid", x, features << levels);
  for (int step = 0; step < levels; ++step) {
    const int level = levels - 1 - step;
    x = upsampling_convolution(builder, fmt::format("up.{}", step), x, features << level);
    x = builder.add(Op::Concat, fmt::format("concat.{}", step), {x, skipped[static_cast<std::size_t>(level)]},
                    {{Attr::axis, std::int64_t{1}}});
    x = double_convolution(builder, fmt::format("u.{}", step), x, features << level);
  }
  x = convolution(builder, "out", x, {.channels = values["classes"], .kernel = 1, .bias = true});
  x = builder.add(Op::ReduceMean, "mean", {x},
                  {{Attr::axes, std::vector<std::int64_t>{2, 3}}, {Attr::keepdims, std::int64_t{0}}});
  return finish(builder, x, "logits");
}

}  // namespace

std::vector<BuiltinNetwork> unet_networks() {
  return {network(
      "unet", "U-Net with three levels and 32 features at the first",
      {image_option(256, 1 << levels), {"features", "channels of the first level", 32, 1, 1 << 12}, classes_option(2)},
      build_unet)};
}

}  // namespace monet::networks
