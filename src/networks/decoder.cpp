#include "networks/decoder.h"

#include "base/try.h"
#include "networks/layers.h"
#include "networks/transformer.h"

#include <fmt/format.h>

#include <cmath>

namespace monet::networks {

namespace {

// Llama 2's and 3's; others have 1e-6, which costs the same.
constexpr double rms_epsilon = 1e-5;

}  // namespace

std::vector<OptionInfo> grouped_head_options(std::int64_t heads, std::int64_t key_value_heads,
                                             std::int64_t head_width) {
  return {{"heads", "attention heads", heads, 1, 1 << 12},
          {"kv_heads", "heads of keys and values, a divisor of heads", key_value_heads, 1, 1 << 12},
          {"head_width", "features of a head, an even number; 0: width / heads", head_width, 0, 1 << 14}};
}

Expected<Heads> grouped_heads(const OptionValues& values) {
  Heads heads{.query = values["heads"], .key_value = values["kv_heads"], .width = values["head_width"]};
  if (heads.query % heads.key_value != 0) {
    return Error{.message = fmt::format("heads={} is not a multiple of kv_heads={}", heads.query, heads.key_value),
                 .advice = "each head of keys and values serves equally many heads: choose a divisor of heads"};
  }
  if (heads.width == 0) {
    MONET_RETURN_IF_ERROR(check_heads(values["width"], heads.query));
    heads.width = values["width"] / heads.query;
  }
  if (heads.width % 2 != 0) {
    return Error{.message = fmt::format("a head has {} features, an odd number", heads.width),
                 .advice = "rotary positions turn features in pairs: choose another width, heads or head_width"};
  }
  return heads;
}

TensorId linear_without_bias(GraphBuilder& builder, const std::string& name, TensorId x, std::int64_t outputs) {
  const TensorId weight = builder.parameter(name + ".weight", {outputs, axis_size(builder, x, 2)});
  return multiply_by_transpose(builder, name, x, weight);
}

TensorId rms_norm(GraphBuilder& builder, const std::string& name, TensorId x) {
  const TensorId weight = builder.parameter(name + ".weight", {axis_size(builder, x, 2)});
  return builder.add(Op::RMSNormalization, name, {x, weight},
                     {{Attr::axis, std::int64_t{2}}, {Attr::epsilon, rms_epsilon}});
}

Rotation rotation(GraphBuilder& builder, std::int64_t tokens, std::int64_t features, std::int64_t base) {
  std::vector<double> speeds;
  for (std::int64_t i = 0; i < features; ++i) {
    const std::int64_t pair = i % (features / 2);
    speeds.push_back(
        std::pow(static_cast<double>(base), -2 * static_cast<double>(pair) / static_cast<double>(features)));
  }
  const TensorId speed =
      builder.constant("rotary.speeds", Constant::reals(ElementType::float32, {features}, std::move(speeds)));
  const TensorId place = builder.add(Op::Range, "rotary.positions", {},
                                     {{Attr::shape, Shape{tokens}},
                                      {Attr::start, 0.0},
                                      {Attr::delta, 1.0},
                                      {Attr::to, static_cast<std::int64_t>(ElementType::float32)}});
  const TensorId column = reshaped(builder, "rotary.column", place, {tokens, 1});
  const TensorId angle = builder.add(Op::Mul, "rotary.angles", {column, speed});
  return {.cosine = builder.add(Op::Cos, "rotary.cos", {angle}),
          .sine = builder.add(Op::Sin, "rotary.sin", {angle}),
          .features = features};
}

namespace {

std::vector<TensorId> split_features(GraphBuilder& builder, const std::string& name, TensorId x,
                                     std::vector<std::int64_t> sizes) {
  const std::size_t parts = sizes.size();
  return builder.add_many(Op::Split, name, {x}, {{Attr::axis, std::int64_t{3}}, {Attr::split, std::move(sizes)}},
                          parts);
}

TensorId joined_features(GraphBuilder& builder, const std::string& name, TensorId first, TensorId second) {
  return builder.add(Op::Concat, name, {first, second}, {{Attr::axis, std::int64_t{3}}});
}

}  // namespace

TensorId rotated(GraphBuilder& builder, const std::string& name, TensorId x, const Rotation& by) {
  const std::int64_t rest = axis_size(builder, x, 3) - by.features;
  TensorId still;
  if (rest > 0) {
    const auto parts = split_features(builder, name + ".split", x, {by.features, rest});
    x = parts[0];
    still = parts[1];
  }
  const auto halves = split_features(builder, name + ".halves", x, {by.features / 2, by.features / 2});
  const TensorId negative = builder.add(Op::Neg, name + ".negative", {halves[1]});
  const TensorId turned = joined_features(builder, name + ".turned", negative, halves[0]);
  const TensorId along = builder.add(Op::Mul, name + ".cos", {x, by.cosine});
  const TensorId across = builder.add(Op::Mul, name + ".sin", {turned, by.sine});
  const TensorId result = builder.add(Op::Add, name + ".rotated", {along, across});
  return still.valid() ? joined_features(builder, name + ".whole", result, still) : result;
}

TensorId by_head(GraphBuilder& builder, const std::string& name, TensorId x, std::int64_t heads) {
  const std::int64_t features = axis_size(builder, x, 2) / heads;
  const TensorId parts =
      reshaped(builder, name + ".heads", x, {axis_size(builder, x, 0), axis_size(builder, x, 1), heads, features});
  return transposed(builder, name + ".by_head", parts, {0, 2, 1, 3});
}

TensorId by_token(GraphBuilder& builder, const std::string& name, TensorId x) {
  const TensorId first = transposed(builder, name + ".by_token", x, {0, 2, 1, 3});
  return reshaped(builder, name + ".join", first,
                  {axis_size(builder, first, 0), axis_size(builder, first, 1),
                   axis_size(builder, first, 2) * axis_size(builder, first, 3)});
}

TensorId causal_attention(GraphBuilder& builder, const std::string& name, TensorId query, TensorId key,
                          TensorId value) {
  const double scale = 1 / std::sqrt(static_cast<double>(axis_size(builder, query, 3)));
  return builder.add(Op::Attention, name + ".attention", {query, key, value},
                     {{Attr::scale, scale}, {Attr::is_causal, std::int64_t{1}}, {Attr::softcap, 0.0}});
}

TensorId grouped_attention(GraphBuilder& builder, const std::string& name, TensorId x, const Heads& heads,
                           const Rotation& positions) {
  const auto projected = [&](const std::string& part, std::int64_t count) {
    return by_head(builder, part, linear_without_bias(builder, part, x, count * heads.width), count);
  };
  const TensorId query = rotated(builder, name + ".q", projected(name + ".q", heads.query), positions);
  const TensorId key = rotated(builder, name + ".k", projected(name + ".k", heads.key_value), positions);
  const TensorId value = projected(name + ".v", heads.key_value);
  const TensorId context = by_token(builder, name, causal_attention(builder, name, query, key, value));
  return linear_without_bias(builder, name + ".out", context, axis_size(builder, x, 2));
}

TensorId gated_feed_forward(GraphBuilder& builder, const std::string& name, TensorId x, std::int64_t inner) {
  const TensorId gate = linear_without_bias(builder, name + ".gate", x, inner);
  const TensorId up = linear_without_bias(builder, name + ".up", x, inner);
  const TensorId active = builder.add(Op::Silu, name + ".silu", {gate});
  const TensorId gated = builder.add(Op::Mul, name + ".gated", {active, up});
  return linear_without_bias(builder, name + ".down", gated, axis_size(builder, x, 2));
}

TensorId squared_feed_forward(GraphBuilder& builder, const std::string& name, TensorId x, std::int64_t inner) {
  const TensorId up = linear_without_bias(builder, name + ".up", x, inner);
  const TensorId active = builder.add(Op::Relu, name + ".relu", {up});
  const TensorId square = builder.add(Op::Mul, name + ".square", {active, active});
  return linear_without_bias(builder, name + ".down", square, axis_size(builder, x, 2));
}

Expected<Graph> decoder(GraphBuilder& builder, const OptionValues& values, const BlockPart& attention,
                        const BlockPart& feed_forward, Norm norm) {
  const TensorId tokens = builder.input("input", {values["batch"], values["tokens"]}, ElementType::int64);
  const Shape table_shape = {values["vocabulary"], values["width"]};
  const TensorId table = builder.parameter("tok.weight", table_shape);
  TensorId x = builder.add(Op::Gather, "tok", {table, tokens}, {{Attr::axis, std::int64_t{0}}});
  for (std::int64_t i = 0; i < values["layers"]; ++i) {
    const std::string name = fmt::format("blocks.{}", i);
    const TensorId attended = attention(name, i, norm(builder, name + ".n1", x));
    x = builder.add(Op::Add, name + ".add1", {x, attended});
    const TensorId fed = feed_forward(name, i, norm(builder, name + ".n2", x));
    x = builder.add(Op::Add, name + ".add2", {x, fed});
  }
  const TensorId head = values.is_on("tied") ? table : builder.parameter("head.weight", table_shape);
  return finish(builder, multiply_by_transpose(builder, "head", norm(builder, "norm", x), head), "logits");
}

}  // namespace monet::networks
