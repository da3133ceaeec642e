// The pieces of transformers, as PyTorch's exporter writes them. x: [batch, tokens, width].
#pragma once

#include "graph/builder.h"
#include "networks/options.h"

#include <string>
#include <vector>

namespace monet::networks {

struct Attention {
  std::int64_t heads;
  bool causal = false;
  bool fused = false;       // one Attention operator
  bool head_major = false;  // a head's query, key and value are neighbours, so that chips can share out heads
  TensorId mask = {};       // added to the scores if causal and not fused
  double dropout = 0;       // share of the probabilities that is dropped, if not fused
};

OptionInfo layers_option(std::int64_t default_value);
OptionInfo width_option(std::int64_t default_value);
OptionInfo ffn_option(std::int64_t default_value);
OptionInfo vocabulary_option(std::int64_t default_value);
OptionInfo tokens_option(std::int64_t default_value);
// layers, width, heads, ffn, vocabulary, tokens with these defaults.
struct TransformerSizes {
  std::int64_t layers, width, heads, ffn, vocabulary, tokens;
};
std::vector<OptionInfo> transformer_options(const TransformerSizes& defaults);
// Fails if width is not a multiple of heads.
Status check_heads(std::int64_t width, std::int64_t heads);
Expected<TransformerSizes> transformer_sizes(const OptionValues& values);

TensorId scalar(GraphBuilder& builder, const std::string& name, double value);
// 0 where a token may look and -10000 where it would look ahead: the value in the exported models.
TensorId causal_mask(GraphBuilder& builder, const std::string& name, Shape shape);

// x times the transpose of a matrix [out, in]; no bias.
TensorId multiply_by_transpose(GraphBuilder& builder, const std::string& name, TensorId x, TensorId matrix);
TensorId matrix_product(GraphBuilder& builder, const std::string& name, TensorId a, TensorId b);
TensorId transposed(GraphBuilder& builder, const std::string& name, TensorId x, std::vector<std::int64_t> order);
TensorId reshaped(GraphBuilder& builder, const std::string& name, TensorId x, Shape shape);
TensorId softmax(GraphBuilder& builder, Op op, const std::string& name, TensorId x);  // over the last axis

// `x` itself where nothing is dropped.
TensorId dropout(GraphBuilder& builder, const std::string& name, TensorId x, double ratio);
TensorId linear(GraphBuilder& builder, const std::string& name, TensorId x, std::int64_t outputs);
// By default with torch.nn.LayerNorm's epsilon.
TensorId layer_norm(GraphBuilder& builder, const std::string& name, TensorId x, double epsilon = 1e-5);

// The row of a trained table for each token plus that of a second one, with `positions` rows, for its place.
struct Embedding {
  TensorId tokens;  // [batch, tokens, width]
  TensorId table;   // [vocabulary, width]
};
Embedding embedding(GraphBuilder& builder, const TransformerSizes& sizes, TensorId tokens, std::int64_t positions);

TensorId self_attention(GraphBuilder& builder, const std::string& name, TensorId x, const Attention& attention);
// Up to `inner` columns, GELU, and back.
TensorId feed_forward(GraphBuilder& builder, const std::string& block, TensorId x, std::int64_t inner);

}  // namespace monet::networks
