#include "networks/mixture.h"

#include "networks/decoder.h"
#include "networks/layers.h"
#include "networks/transformer.h"

#include <fmt/format.h>

#include <algorithm>

namespace monet::networks {

namespace {

constexpr auto number_type = static_cast<std::int64_t>(ElementType::float32);

TensorId zeros(GraphBuilder& builder, const std::string& name, Shape shape) {
  return builder.add(Op::Fill, name + ".zeros", {},
                     {{Attr::shape, std::move(shape)}, {Attr::value, 0.0}, {Attr::to, number_type}});
}

struct Picked {
  TensorId values;
  TensorId places;
};

Picked largest(GraphBuilder& builder, const std::string& name, TensorId x, std::int64_t count) {
  const auto outputs = builder.add_many(Op::TopK, name, {x},
                                        {{Attr::axis, std::int64_t{2}},
                                         {Attr::k, count},
                                         {Attr::largest, std::int64_t{1}},
                                         {Attr::sorted, std::int64_t{1}}},
                                        2);
  return {outputs[0], outputs[1]};
}

TensorId scattered(GraphBuilder& builder, const std::string& name, Shape shape, TensorId places, TensorId values,
                   std::int64_t axis, const std::string& reduction) {
  const TensorId base = zeros(builder, name, std::move(shape));
  return builder.add(Op::ScatterElements, name, {base, places, values},
                     {{Attr::axis, axis}, {Attr::reduction, reduction}});
}

// How much each expert counts for each token, [batch, tokens, experts]: 0 where it is not chosen.
TensorId weights(GraphBuilder& builder, const std::string& name, TensorId x, const Mixture& mixture) {
  TensorId scores = linear_without_bias(builder, name, x, mixture.experts);
  const Shape all = builder.shape(scores);
  const bool sigmoids = mixture.sigmoid_factor != 0;
  if (sigmoids) scores = builder.add(Op::Sigmoid, name + ".sigmoid", {scores});
  const auto [best, experts] = largest(builder, name + ".choice", scores, mixture.chosen);
  TensorId share;
  if (sigmoids) {
    const TensorId sum = builder.add(Op::ReduceSum, name + ".sum", {best},
                                     {{Attr::axes, std::vector<std::int64_t>{2}}, {Attr::keepdims, std::int64_t{1}}});
    share = builder.add(Op::Div, name + ".share", {best, sum});
    share =
        builder.add(Op::Mul, name + ".factor", {share, builder.scalar(ElementType::float32, mixture.sigmoid_factor)});
  } else {
    share = softmax(builder, Op::Softmax, name + ".softmax", best);
  }
  return scattered(builder, name + ".weights", all, experts, share, 2, "none");
}

// [experts, rows, width] through the feed-forward part of each expert.
TensorId expert_products(GraphBuilder& builder, const std::string& name, TensorId x, std::int64_t inner) {
  const auto layer = [&](const std::string& part, TensorId y, std::int64_t outputs) {
    const TensorId weight = builder.parameter(fmt::format("{}.{}.weight", name, part),
                                              {axis_size(builder, y, 0), axis_size(builder, y, 2), outputs});
    return matrix_product(builder, fmt::format("{}.{}", name, part), y, weight);
  };
  const TensorId gate = layer("gate", x, inner);
  const TensorId up = layer("up", x, inner);
  const TensorId active = builder.add(Op::Silu, name + ".silu", {gate});
  return layer("down", builder.add(Op::Mul, name + ".gated", {active, up}), axis_size(builder, x, 2));
}

}  // namespace

std::vector<OptionInfo> mixture_options(const MixtureDefaults& defaults) {
  return {{"experts", "experts of a layer", defaults.experts, 1, 1 << 14},
          {"top_k", "experts that a token goes through, at most all", defaults.chosen, 1, 1 << 14},
          {"capacity", "tokens that an expert takes, in per cent of an even share", 100, 1, 1 << 16},
          {"shared", "experts that every token goes through besides", defaults.shared, 0, 1 << 10},
          {"expert_ffn", "inner features of an expert", defaults.inner, 1, 1 << 20}};
}

Expected<Mixture> mixture(const OptionValues& values) {
  const Mixture mixture{.experts = values["experts"],
                        .chosen = values["top_k"],
                        .capacity = values["capacity"],
                        .shared = values["shared"],
                        .inner = values["expert_ffn"]};
  if (mixture.chosen > mixture.experts) {
    return Error{.message = fmt::format("top_k={} is more than experts={}", mixture.chosen, mixture.experts),
                 .advice = "a token goes through each expert once at most: choose fewer, or more experts"};
  }
  return mixture;
}

std::int64_t expert_rows(const Mixture& mixture, std::int64_t tokens) {
  const std::int64_t hundredfold = mixture.experts * 100;
  const std::int64_t rows = (tokens * mixture.chosen * mixture.capacity + hundredfold - 1) / hundredfold;
  return std::min(rows, tokens);
}

TensorId mixture_of_experts(GraphBuilder& builder, const std::string& name, TensorId x, const Mixture& mixture) {
  const std::int64_t batch = axis_size(builder, x, 0);
  const std::int64_t tokens = axis_size(builder, x, 1);
  const std::int64_t width = axis_size(builder, x, 2);
  const std::int64_t experts = mixture.experts;
  const std::int64_t rows = expert_rows(mixture, tokens);
  const TensorId by_expert =
      transposed(builder, name + ".router.by_expert", weights(builder, name + ".router", x, mixture), {0, 2, 1});
  const auto [weight, places] = largest(builder, name + ".dispatch.choice", by_expert, rows);
  const TensorId of_rows = builder.add(Op::Expand, name + ".dispatch.places",
                                       {reshaped(builder, name + ".dispatch.rows", places, {batch, experts * rows, 1})},
                                       {{Attr::shape, Shape{batch, experts * rows, width}}});
  TensorId routed = builder.add(Op::GatherElements, name + ".dispatch", {x, of_rows}, {{Attr::axis, std::int64_t{1}}});
  routed = reshaped(builder, name + ".dispatch.experts", routed, {batch, experts, rows, width});
  routed = transposed(builder, name + ".dispatch.by_expert", routed, {1, 0, 2, 3});
  routed = reshaped(builder, name + ".dispatch.join", routed, {experts, batch * rows, width});
  routed = expert_products(builder, name + ".experts", routed, mixture.inner);
  routed = reshaped(builder, name + ".combine.samples", routed, {experts, batch, rows, width});
  routed = transposed(builder, name + ".combine.by_sample", routed, {1, 0, 2, 3});
  routed = builder.add(Op::Mul, name + ".combine.weighted",
                       {routed, reshaped(builder, name + ".combine.weights", weight, {batch, experts, rows, 1})});
  routed = reshaped(builder, name + ".combine.rows", routed, {batch, experts * rows, width});
  const TensorId sum = scattered(builder, name + ".combine", {batch, tokens, width}, of_rows, routed, 1, "add");
  if (mixture.shared == 0) return sum;
  const TensorId shared = gated_feed_forward(builder, name + ".shared", x, mixture.shared * mixture.inner);
  return builder.add(Op::Add, name + ".sum", {sum, shared});
}

}  // namespace monet::networks
