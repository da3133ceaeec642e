#include "networks/transformer.h"

#include "base/try.h"
#include "networks/layers.h"

#include <fmt/format.h>

#include <cmath>
#include <numeric>

namespace monet::networks {

namespace {

constexpr double masked_score = -10000;  // as in the exported GPT-2 models

Attributes along(std::int64_t axis) { return {{Attr::axis, axis}}; }

}  // namespace

OptionInfo layers_option(std::int64_t default_value) {
  return {"layers", "transformer blocks", default_value, 1, 1024};
}

OptionInfo width_option(std::int64_t default_value) {
  return {"width", "features of a token", default_value, 1, 1 << 16};
}

OptionInfo ffn_option(std::int64_t default_value) {
  return {"ffn", "inner features of the feed-forward part", default_value, 1, 1 << 20};
}

OptionInfo vocabulary_option(std::int64_t default_value) {
  return {"vocabulary", "different tokens", default_value, 1, 1 << 24};
}

OptionInfo tokens_option(std::int64_t default_value) {
  return {"tokens", "tokens in a sample", default_value, 1, 1 << 20};
}

std::vector<OptionInfo> transformer_options(const TransformerSizes& defaults) {
  return {layers_option(defaults.layers),
          width_option(defaults.width),
          {"heads", "attention heads, a divisor of width", defaults.heads, 1, 1 << 12},
          ffn_option(defaults.ffn),
          vocabulary_option(defaults.vocabulary),
          tokens_option(defaults.tokens)};
}

Status check_heads(std::int64_t width, std::int64_t heads) {
  if (width % heads == 0) return Done{};
  return Error{.message = fmt::format("width={} is not a multiple of heads={}", width, heads),
               .advice = fmt::format("choose width={} or another multiple of heads", (width / heads + 1) * heads)};
}

Expected<TransformerSizes> transformer_sizes(const OptionValues& values) {
  const TransformerSizes sizes{values["layers"], values["width"],      values["heads"],
                               values["ffn"],    values["vocabulary"], values["tokens"]};
  MONET_RETURN_IF_ERROR(check_heads(sizes.width, sizes.heads));
  return sizes;
}

TensorId scalar(GraphBuilder& builder, const std::string& name, double value) {
  return builder.constant(name, Constant::reals(ElementType::float32, {}, {value}));
}

TensorId causal_mask(GraphBuilder& builder, const std::string& name, Shape shape) {
  Constant mask = Constant::reals(ElementType::float32, std::move(shape), {0, masked_score});
  mask.pattern = Constant::Pattern::banded;
  return builder.constant(name, std::move(mask));
}

TensorId matrix_product(GraphBuilder& builder, const std::string& name, TensorId a, TensorId b) {
  return builder.add(Op::MatMul, name, {a, b},
                     {{Attr::trans_a, std::int64_t{0}}, {Attr::trans_b, std::int64_t{0}}, {Attr::alpha, 1.0}});
}

TensorId transposed(GraphBuilder& builder, const std::string& name, TensorId x, std::vector<std::int64_t> order) {
  return builder.add(Op::Transpose, name, {x}, {{Attr::perm, std::move(order)}});
}

TensorId reshaped(GraphBuilder& builder, const std::string& name, TensorId x, Shape shape) {
  return builder.add(Op::Reshape, name, {x}, {{Attr::shape, std::move(shape)}});
}

TensorId softmax(GraphBuilder& builder, Op op, const std::string& name, TensorId x) {
  const auto last = static_cast<std::int64_t>(builder.shape(x).size()) - 1;
  return builder.add(op, name, {x}, {{Attr::axes, std::vector<std::int64_t>{last}}});
}

TensorId multiply_by_transpose(GraphBuilder& builder, const std::string& name, TensorId x, TensorId matrix) {
  return matrix_product(builder, name, x, transposed(builder, name + ".transpose", matrix, {1, 0}));
}

TensorId dropout(GraphBuilder& builder, const std::string& name, TensorId x, double ratio) {
  return ratio == 0 ? x : builder.add(Op::Dropout, name + ".dropout", {x}, {{Attr::ratio, ratio}});
}

TensorId linear(GraphBuilder& builder, const std::string& name, TensorId x, std::int64_t outputs) {
  const TensorId weight = builder.parameter(name + ".weight", {outputs, axis_size(builder, x, 2)});
  const TensorId bias = builder.parameter(name + ".bias", {outputs});
  return builder.add(Op::Add, name + ".add", {bias, multiply_by_transpose(builder, name, x, weight)});
}

TensorId layer_norm(GraphBuilder& builder, const std::string& name, TensorId x, double epsilon) {
  const Shape width{axis_size(builder, x, 2)};
  const TensorId weight = builder.parameter(name + ".weight", width);
  const TensorId bias = builder.parameter(name + ".bias", width);
  return builder.add(Op::LayerNormalization, name, {x, weight, bias},
                     {{Attr::axis, std::int64_t{2}}, {Attr::epsilon, epsilon}});
}

Embedding embedding(GraphBuilder& builder, const TransformerSizes& sizes, TensorId tokens, std::int64_t positions) {
  std::vector<std::int64_t> places(static_cast<std::size_t>(sizes.tokens));
  std::iota(places.begin(), places.end(), std::int64_t{0});
  const TensorId range =
      builder.constant("positions", Constant::integers(ElementType::int64, {sizes.tokens}, std::move(places)));
  const TensorId table = builder.parameter("tok.weight", {sizes.vocabulary, sizes.width});
  const TensorId by_token = builder.add(Op::Gather, "tok", {table, tokens}, along(0));
  const TensorId place_table = builder.parameter("pos.weight", {positions, sizes.width});
  const TensorId by_place = builder.add(Op::Gather, "pos", {place_table, range}, along(0));
  return {.tokens = builder.add(Op::Add, "embedding", {by_token, by_place}), .table = table};
}

namespace {

// Query, key and value: [batch, tokens, heads, head width] if head_major, else [batch, tokens, width].
std::vector<TensorId> query_key_value(GraphBuilder& builder, const std::string& name, TensorId x,
                                      const Attention& attention) {
  const std::int64_t width = axis_size(builder, x, 2);
  TensorId packed = linear(builder, name + ".qkv", x, 3 * width);
  std::int64_t part = width;
  if (attention.head_major) {
    part = width / attention.heads;
    packed = reshaped(builder, name + ".heads", packed,
                      {axis_size(builder, x, 0), axis_size(builder, x, 1), attention.heads, 3 * part});
  }
  const auto last = static_cast<std::int64_t>(builder.shape(packed).size()) - 1;
  return builder.add_many(Op::Split, name + ".split", {packed},
                          {{Attr::axis, last}, {Attr::split, std::vector<std::int64_t>(3, part)}}, 3);
}

}  // namespace

TensorId self_attention(GraphBuilder& builder, const std::string& name, TensorId x, const Attention& attention) {
  const std::int64_t batch = axis_size(builder, x, 0);
  const std::int64_t tokens = axis_size(builder, x, 1);
  const std::int64_t width = axis_size(builder, x, 2);
  const std::int64_t head_width = width / attention.heads;
  const std::vector<TensorId> parts = query_key_value(builder, name, x, attention);
  const auto by_head = [&](const std::string& part, TensorId y, std::vector<std::int64_t> order) {
    if (!attention.head_major) {
      y = reshaped(builder, part + ".heads", y, {batch, tokens, attention.heads, head_width});
    }
    return transposed(builder, part, y, std::move(order));
  };
  const double scale = 1 / std::sqrt(static_cast<double>(head_width));
  const TensorId query = by_head(name + ".query", parts[0], {0, 2, 1, 3});
  TensorId context;
  if (attention.fused) {
    const TensorId key = by_head(name + ".key", parts[1], {0, 2, 1, 3});
    const TensorId value = by_head(name + ".value", parts[2], {0, 2, 1, 3});
    context =
        builder.add(Op::Attention, name + ".attention", {query, key, value},
                    {{Attr::scale, scale}, {Attr::is_causal, std::int64_t{attention.causal}}, {Attr::softcap, 0.0}});
  } else {
    const TensorId key = by_head(name + ".key", parts[1], {0, 2, 3, 1});
    const TensorId value = by_head(name + ".value", parts[2], {0, 2, 1, 3});
    TensorId scores = matrix_product(builder, name + ".scores", query, key);
    scores = builder.add(Op::Mul, name + ".scale", {scores, scalar(builder, name + ".scale_factor", scale)});
    if (attention.causal) scores = builder.add(Op::Add, name + ".mask", {scores, attention.mask});
    const TensorId probabilities = dropout(builder, name + ".softmax",
                                           softmax(builder, Op::Softmax, name + ".softmax", scores), attention.dropout);
    context = matrix_product(builder, name + ".context", probabilities, value);
  }
  context = transposed(builder, name + ".by_token", context, {0, 2, 1, 3});
  return linear(builder, name + ".out", reshaped(builder, name + ".join", context, {batch, tokens, width}), width);
}

TensorId feed_forward(GraphBuilder& builder, const std::string& block, TensorId x, std::int64_t inner) {
  const TensorId up = linear(builder, block + ".up", x, inner);
  const TensorId active = builder.add(Op::Gelu, block + ".gelu", {up}, {{Attr::approximate, std::string("none")}});
  return linear(builder, block + ".down", active, axis_size(builder, x, 2));
}

}  // namespace monet::networks
