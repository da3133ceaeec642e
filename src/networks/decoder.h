// The pieces of today's decoders: norms by the root mean square, rotated positions, keys and values that several heads
// share, gated feed-forward parts; no biases. x: [batch, tokens, width].
#pragma once

#include "graph/builder.h"
#include "networks/options.h"

#include <functional>
#include <string>
#include <vector>

namespace monet::networks {

// Features of a head: width / heads unless they are stated.
struct Heads {
  std::int64_t query;
  std::int64_t key_value;  // a divisor of query
  std::int64_t width;
};
std::vector<OptionInfo> grouped_head_options(std::int64_t heads, std::int64_t key_value_heads,
                                             std::int64_t head_width = 0);
// From the options width, heads, kv_heads and head_width; fails if they do not fit each other.
Expected<Heads> grouped_heads(const OptionValues& values);

TensorId linear_without_bias(GraphBuilder& builder, const std::string& name, TensorId x, std::int64_t outputs);
TensorId rms_norm(GraphBuilder& builder, const std::string& name, TensorId x);

// Rotary positions (Su et al. 2021): cosines and sines of position times base^(-2i/features), [tokens, features] each,
// computed once in a step. Columns i and i + features/2 turn together.
struct Rotation {
  TensorId cosine;
  TensorId sine;
  std::int64_t features;
};
Rotation rotation(GraphBuilder& builder, std::int64_t tokens, std::int64_t features, std::int64_t base);
// x: [batch, heads, tokens, features]; features beyond those of the rotation stay as they are.
TensorId rotated(GraphBuilder& builder, const std::string& name, TensorId x, const Rotation& by);

// [batch, tokens, heads · features] as [batch, heads, tokens, features], and back.
TensorId by_head(GraphBuilder& builder, const std::string& name, TensorId x, std::int64_t heads);
TensorId by_token(GraphBuilder& builder, const std::string& name, TensorId x);

// softmax(query · keyᵀ / √features) · value, causal, in one operator. All [batch, heads, tokens, features].
TensorId causal_attention(GraphBuilder& builder, const std::string& name, TensorId query, TensorId key, TensorId value);

TensorId grouped_attention(GraphBuilder& builder, const std::string& name, TensorId x, const Heads& heads,
                           const Rotation& positions);

// down(silu(gate(x)) · up(x)), `inner` features wide inside.
TensorId gated_feed_forward(GraphBuilder& builder, const std::string& name, TensorId x, std::int64_t inner);

// max(up(x), 0)², and down.
TensorId squared_feed_forward(GraphBuilder& builder, const std::string& name, TensorId x, std::int64_t inner);

// Part of block number `layer`: what is added to x, from the norm of x. Names begin with `block`.
using BlockPart = std::function<TensorId(const std::string& block, std::int64_t layer, TensorId x)>;

using Norm = TensorId (*)(GraphBuilder& builder, const std::string& name, TensorId x);

// Table of tokens, blocks of two parts, norm, head; from the options batch, layers, width, vocabulary, tokens, tied.
Expected<Graph> decoder(GraphBuilder& builder, const OptionValues& values, const BlockPart& attention,
                        const BlockPart& feed_forward, Norm norm = rms_norm);

}  // namespace monet::networks
