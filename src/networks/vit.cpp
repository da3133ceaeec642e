// Vision transformers (Dosovitskiy et al. 2021), as in torchvision: an image is cut into patches, a token each, and a
// class token before them; norms before each part of a block.
#include "base/try.h"
#include "networks/layers.h"
#include "networks/network.h"
#include "networks/transformer.h"

#include <fmt/format.h>

namespace monet::networks {

namespace {

constexpr double norm_epsilon = 1e-6;  // torchvision's

struct VitSizes {
  std::int64_t image, patch, width, layers, heads, ffn;
};

TensorId vit_block(GraphBuilder& builder, const std::string& name, TensorId x, const Attention& attention,
                   std::int64_t inner) {
  const TensorId attended =
      self_attention(builder, name + ".attn", layer_norm(builder, name + ".ln_1", x, norm_epsilon), attention);
  x = builder.add(Op::Add, name + ".add1", {x, attended});
  const TensorId fed =
      feed_forward(builder, name + ".mlp", layer_norm(builder, name + ".ln_2", x, norm_epsilon), inner);
  return builder.add(Op::Add, name + ".add2", {x, fed});
}

// Each patch is a token: a convolution with the patch as kernel and stride.
TensorId tokens_of(GraphBuilder& builder, TensorId image, const VitSizes& sizes) {
  const TensorId patches = convolution(
      builder, "conv_proj", image,
      {.channels = sizes.width, .kernel = sizes.patch, .stride = sizes.patch, .bias = true, .padded = false});
  const std::int64_t batch = axis_size(builder, patches, 0);
  const std::int64_t count = axis_size(builder, patches, 2) * axis_size(builder, patches, 3);
  const TensorId rows =
      transposed(builder, "by_patch", reshaped(builder, "patches", patches, {batch, sizes.width, count}), {0, 2, 1});
  const TensorId token = builder.parameter("class_token", {1, 1, sizes.width});
  const TensorId tokens =
      builder.add(Op::Expand, "class_tokens", {token}, {{Attr::shape, Shape{batch, 1, sizes.width}}});
  const TensorId all = builder.add(Op::Concat, "tokens", {tokens, rows}, {{Attr::axis, std::int64_t{1}}});
  const TensorId places = builder.parameter("encoder.pos_embedding", {1, count + 1, sizes.width});
  return builder.add(Op::Add, "encoder.embedding", {all, places});
}

Expected<Graph> build_vit(const BuiltinInfo& info, const OptionValues& values) {
  const VitSizes sizes{values["image"],  values["patch"], values["width"],
                       values["layers"], values["heads"], values["ffn"]};
  MONET_RETURN_IF_ERROR(check_heads(sizes.width, sizes.heads));
  if (sizes.image % sizes.patch != 0) {
    return Error{.message = fmt::format("image={} is not a multiple of patch={}", sizes.image, sizes.patch),
                 .advice = fmt::format("choose image={} or another multiple of patch",
                                       (sizes.image / sizes.patch + 1) * sizes.patch)};
  }
  GraphBuilder builder(info.name);
  TensorId x = tokens_of(builder, builder.input("input", {values["batch"], 3, sizes.image, sizes.image}), sizes);
  const Attention attention{.heads = sizes.heads};
  for (std::int64_t i = 0; i < sizes.layers; ++i) {
    x = vit_block(builder, fmt::format("encoder.layers.encoder_layer_{}", i), x, attention, sizes.ffn);
  }
  x = layer_norm(builder, "encoder.ln", x, norm_epsilon);
  const TensorId zero = builder.constant("first", Constant::integers(ElementType::int64, {}, {0}));
  const TensorId first = builder.add(Op::Gather, "first_token", {x, zero}, {{Attr::axis, std::int64_t{1}}});
  return finish(builder, fully_connected(builder, "heads.head", first, values["classes"]), "logits");
}

BuiltinNetwork vit(std::string name, std::string description, const VitSizes& defaults, std::int64_t classes) {
  return network(std::move(name), std::move(description),
                 {image_option(defaults.image, 1),
                  {"patch", "height and width of a patch, a divisor of image", defaults.patch, 1, 1 << 14},
                  {"width", "features of a token", defaults.width, 1, 1 << 16},
                  {"layers", "transformer blocks", defaults.layers, 1, 1024},
                  {"heads", "attention heads, a divisor of width", defaults.heads, 1, 1 << 12},
                  {"ffn", "inner features of the feed-forward part", defaults.ffn, 1, 1 << 20},
                  classes_option(classes)},
                 build_vit);
}

// Dosovitskiy et al. 2021, table 1: ViT-B.
constexpr VitSizes base_32{224, 32, 768, 12, 12, 3072};
constexpr VitSizes base_16{224, 16, 768, 12, 12, 3072};
// Touvron et al. 2021 (DeiT), table 1: DeiT-Ti.
constexpr VitSizes tiny_16{224, 16, 192, 12, 3, 768};
// For images of CIFAR: small enough to be trained number by number.
constexpr VitSizes cifar{32, 8, 64, 2, 4, 128};

}  // namespace

std::vector<BuiltinNetwork> vit_networks() {
  return {vit("vit-b-32", "vision transformer ViT-B/32, as in torchvision", base_32, 1000),
          vit("vit-b-16", "vision transformer ViT-B/16, as in torchvision", base_16, 1000),
          vit("vit-tiny", "vision transformer of width 192, patches of 16 (DeiT-Ti)", tiny_16, 1000),
          vit("vit-cifar", "vision transformer with 2 layers of width 64 for images of 32x32", cifar, 10)};
}

}  // namespace monet::networks
