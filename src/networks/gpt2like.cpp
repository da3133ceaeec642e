// The language model of the published training graph gpt2like_training.onnx, forward part (nodes 0 to 137), operator by
// operator: four passes through one encoder layer of torch.nn.Transformer without norms, a fixed sinusoidal position
// table, matrices stored [in, out] as that exporter left them.
#include "base/try.h"
#include "networks/layers.h"
#include "networks/network.h"
#include "networks/transformer.h"

#include <fmt/format.h>

#include <cmath>

namespace monet::networks {

namespace {

constexpr TransformerSizes published{4, 512, 4, 1376, 4000, 256};
// The position table is held element by element: 16 Mi elements at most.
constexpr std::int64_t largest_table_side = 1 << 12;

// Vaswani et al. 2017, section 3.5: sin(p / 10000^(2i/d)) in the even columns, cos in the odd ones.
Constant sinusoids(std::int64_t tokens, std::int64_t width) {
  std::vector<double> values;
  values.reserve(static_cast<std::size_t>(tokens * width));
  for (std::int64_t position = 0; position < tokens; ++position) {
    for (std::int64_t column = 0; column < width; ++column) {
      const double exponent = static_cast<double>(column - column % 2) / static_cast<double>(width);
      const double angle = static_cast<double>(position) / std::pow(10000.0, exponent);
      values.push_back(column % 2 == 0 ? std::sin(angle) : std::cos(angle));
    }
  }
  return Constant::reals(ElementType::float32, {1, tokens, width}, std::move(values));
}

struct Projection {
  TensorId weight;  // [in, out]
  TensorId bias;
};

Projection projection(GraphBuilder& builder, const std::string& weight, const std::string& bias, std::int64_t inputs,
                      std::int64_t outputs) {
  return {builder.parameter(weight, {inputs, outputs}), builder.parameter(bias, {outputs})};
}

TensorId project(GraphBuilder& builder, const std::string& name, TensorId x, const Projection& by) {
  return builder.add(Op::Add, name + ".add", {by.bias, matrix_product(builder, name, x, by.weight)});
}

// The weights that all passes share, and what is the same in all of them.
struct Layer {
  TransformerSizes sizes;
  std::int64_t batch;
  Projection into, up, down;
  TensorId out_weight, out_bias;  // [out, in]
  TensorId mask, scale;
};

Layer shared_layer(GraphBuilder& builder, const TransformerSizes& sizes, std::int64_t batch) {
  const std::string name = "transformer.layers.0.";
  const std::string attention = name + "self_attn.";
  const std::int64_t width = sizes.width;
  const std::int64_t head_width = width / sizes.heads;
  const double scale = 1 / std::sqrt(static_cast<double>(head_width));
  return {.sizes = sizes,
          .batch = batch,
          .into = projection(builder, attention + "in_proj_weight", attention + "in_proj_bias", width, 3 * width),
          .up = projection(builder, name + "linear1.weight", name + "linear1.bias", width, sizes.ffn),
          .down = projection(builder, name + "linear2.weight", name + "linear2.bias", sizes.ffn, width),
          .out_weight = builder.parameter(attention + "out_proj.weight", {width, width}),
          .out_bias = builder.parameter(attention + "out_proj.bias", {width}),
          .mask = causal_mask(builder, "mask", {1, sizes.tokens, sizes.tokens}),
          .scale = networks::scalar(builder, "scale", scale)};
}

// Between [batch, tokens, width] and [tokens, batch, width]; the published graph, of batch 1, has plain reshapes here.
TensorId tokens_first(GraphBuilder& builder, const std::string& name, TensorId x, const Layer& layer) {
  if (layer.batch > 1) return transposed(builder, name, x, {1, 0, 2});
  return reshaped(builder, name, x, {layer.sizes.tokens, 1, layer.sizes.width});
}

TensorId batch_first(GraphBuilder& builder, const std::string& name, TensorId flat, const Layer& layer) {
  const std::int64_t tokens = layer.sizes.tokens;
  if (layer.batch == 1) return reshaped(builder, name, flat, {1, tokens, layer.sizes.width});
  const TensorId rows = reshaped(builder, name + ".rows", flat, {tokens, layer.batch, layer.sizes.width});
  return transposed(builder, name, rows, {1, 0, 2});
}

TensorId attention(GraphBuilder& builder, const std::string& name, TensorId x, const Layer& layer) {
  const auto [layers, width, heads, ffn, vocabulary, tokens] = layer.sizes;
  const std::int64_t batch = layer.batch;
  TensorId packed = tokens_first(builder, name + ".tokens_first", x, layer);
  packed = project(builder, name + ".in_proj", packed, layer.into);
  packed = reshaped(builder, name + ".unpack", packed, {tokens, batch, 3, width});
  packed = reshaped(builder, name + ".unsqueeze", packed, {1, tokens, batch, 3, width});
  packed = transposed(builder, name + ".parts_first", packed, {3, 1, 2, 0, 4});
  packed = reshaped(builder, name + ".squeeze", packed, {3, tokens, batch, width});
  const auto parts =
      builder.add_many(Op::Split, name + ".split", {packed},
                       {{Attr::axis, std::int64_t{0}}, {Attr::split, std::vector<std::int64_t>(3, 1)}}, 3);
  const Shape by_head{tokens, batch * heads, width / heads};
  const auto head_view = [&](const std::string& part, TensorId y, std::vector<std::int64_t> order) {
    const TensorId flat = reshaped(builder, part + ".squeeze", y, {tokens, batch, width});
    return transposed(builder, part, reshaped(builder, part + ".heads", flat, by_head), std::move(order));
  };
  const TensorId value = head_view(name + ".value", parts[2], {1, 0, 2});
  const TensorId query =
      builder.add(Op::Mul, name + ".scale", {head_view(name + ".query", parts[0], {1, 0, 2}), layer.scale});
  const TensorId key = head_view(name + ".key", parts[1], {1, 2, 0});
  TensorId scores = matrix_product(builder, name + ".scores", query, key);
  scores = builder.add(Op::Add, name + ".mask", {scores, layer.mask});
  TensorId context =
      matrix_product(builder, name + ".context", softmax(builder, Op::Softmax, name + ".softmax", scores), value);
  context = transposed(builder, name + ".by_token", context, {1, 0, 2});
  context = reshaped(builder, name + ".join", context, {tokens * batch, width});
  context = builder.add(
      Op::Gemm, name + ".out_proj", {context, layer.out_weight, layer.out_bias},
      {{Attr::alpha, 1.0}, {Attr::beta, 1.0}, {Attr::trans_a, std::int64_t{0}}, {Attr::trans_b, std::int64_t{1}}});
  return batch_first(builder, name + ".batch_first", context, layer);
}

Expected<Graph> build_gpt2like(const BuiltinInfo& info, const OptionValues& values) {
  MONET_TRY(const TransformerSizes sizes, transformer_sizes(values));
  GraphBuilder builder(info.name);
  const std::int64_t batch = values["batch"];
  const TensorId tokens = builder.input("input", {batch, sizes.tokens}, ElementType::int64);
  const TensorId table = builder.parameter("embedding.weight", {sizes.vocabulary, sizes.width});
  TensorId x = builder.add(Op::Gather, "embedding", {table, tokens}, {{Attr::axis, std::int64_t{0}}});
  const double gain = std::sqrt(static_cast<double>(sizes.width));
  x = builder.add(Op::Mul, "embedding.scale", {x, networks::scalar(builder, "embedding.gain", gain)});
  const TensorId places = builder.constant("pos_encoder.pe", sinusoids(sizes.tokens, sizes.width));
  x = builder.add(Op::Add, "pos_encoder", {x, places});
  const Layer layer = shared_layer(builder, sizes, batch);
  for (std::int64_t i = 0; i < sizes.layers; ++i) {
    const std::string name = fmt::format("transformer.layers.{}", i);
    x = builder.add(Op::Add, name + ".add1", {x, attention(builder, name + ".self_attn", x, layer)});
    const TensorId up = project(builder, name + ".linear1", x, layer.up);
    const TensorId down = project(builder, name + ".linear2", relu(builder, name + ".relu", up), layer.down);
    x = builder.add(Op::Add, name + ".add2", {x, down});
  }
  const Projection head = projection(builder, "fc_out.weight", "fc_out.bias", sizes.width, sizes.vocabulary);
  const TensorId scores = project(builder, "fc_out", x, head);
  return finish(builder, softmax(builder, Op::LogSoftmax, "log_softmax", scores), "logits");
}

}  // namespace

std::vector<BuiltinNetwork> gpt2like_networks() {
  std::vector<OptionInfo> options = transformer_options(published);
  for (OptionInfo& option : options) {
    if (option.name == "width" || option.name == "tokens") option.largest = largest_table_side;
    if (option.name == "layers") option.meaning = "passes through the one encoder layer";
  }
  return {network("gpt2like", "the published GPT-2-like training graph: 4 layers with shared weights, no norms",
                  std::move(options), build_gpt2like)};
}

}  // namespace monet::networks
