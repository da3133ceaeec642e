// FSRCNN(56, 12, 4) (Dong et al. 2016), super-resolution, in the form in which the DepFiN chip was measured
// (reference/stream/results/main_validation_depfin.csv): 540 x 960 pixels in, and in place of the paper's transposed
// 9x9 convolution a 3x3 one with 16 channels, here the 4 x 4 pixels that each input pixel becomes.
#include "networks/layers.h"
#include "networks/network.h"

#include <fmt/format.h>

namespace monet::networks {

namespace {

class Fsrcnn {
 public:
  Fsrcnn(const std::string& name, bool activations) : builder_(name), activations_(activations) {}

  Expected<Graph> build(const OptionValues& values) {
    TensorId x = builder_.input("input", {values["batch"], 1, values["height"], values["width"]});
    x = layer("first_part", 0, x, values["features"], 5);
    x = layer("mid_part", 0, x, values["shrink"], 1);
    const std::int64_t maps = values["maps"];
    for (std::int64_t i = 1; i <= maps; ++i) x = layer("mid_part", 2 * i, x, values["shrink"], 3);
    x = layer("mid_part", 2 * maps + 2, x, values["features"], 1);
    const std::int64_t scale = values["upscale"];
    x = convolution(builder_, "last_part", x, {.channels = scale * scale, .kernel = 3, .bias = true});
    x = builder_.add(Op::DepthToSpace, "shuffle", {x},
                     {{Attr::blocksize, scale}, {Attr::mode, std::string("CRD")}});  // torch.nn.PixelShuffle
    return finish(builder_, x, "image");
  }

 private:
  // Layers `index` and `index + 1` of a torch.nn.Sequential: a convolution and its PReLU, one slope a channel.
  TensorId layer(const std::string& part, std::int64_t index, TensorId x, std::int64_t channels, std::int64_t kernel) {
    x = convolution(builder_, fmt::format("{}.{}", part, index), x,
                    {.channels = channels, .kernel = kernel, .bias = true});
    if (!activations_) return x;
    const std::string name = fmt::format("{}.{}", part, index + 1);
    return builder_.add(Op::PRelu, name, {x, builder_.parameter(name + ".weight", {channels, 1, 1})});
  }

  GraphBuilder builder_;
  bool activations_;
};

Expected<Graph> build_fsrcnn(const BuiltinInfo& info, const OptionValues& values) {
  return Fsrcnn(info.name, values.is_on("prelu")).build(values);
}

}  // namespace

std::vector<BuiltinNetwork> fsrcnn_networks() {
  return {network("fsrcnn", "FSRCNN super-resolution as measured on the DepFiN chip",
                  {{"height", "rows of the image before upscaling", 540, 1, 1 << 14},
                   {"width", "columns of the image before upscaling", 960, 1, 1 << 14},
                   {"features", "channels of the first and the last but one layer", 56, 1, 1 << 12},
                   {"shrink", "channels of the mapping layers", 12, 1, 1 << 12},
                   {"maps", "mapping layers", 4, 0, 1024},
                   {"upscale", "pixels each pixel becomes along an axis", 4, 1, 64},
                   switch_option("prelu", "PReLU after each convolution but the last; 0: convolutions alone", true)},
                  build_fsrcnn)};
}

}  // namespace monet::networks
