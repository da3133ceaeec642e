// BERT (Devlin et al. 2019) with a classifier on the first token, as in the reference model bert_base.onnx: one
// projection for query, key and value, no token types and no pooling layer; 108,891,650 parameters.
#include "base/try.h"
#include "networks/layers.h"
#include "networks/network.h"
#include "networks/transformer.h"

#include <fmt/format.h>

namespace monet::networks {

namespace {

// Norms come after each part of a block.
TensorId bert_block(GraphBuilder& builder, const std::string& name, TensorId x, const Attention& attention,
                    std::int64_t inner) {
  const TensorId attended = self_attention(builder, name + ".attn", x, attention);
  x = layer_norm(builder, name + ".n1", builder.add(Op::Add, name + ".add1", {x, attended}));
  const TensorId fed = feed_forward(builder, name, x, inner);
  return layer_norm(builder, name + ".n2", builder.add(Op::Add, name + ".add2", {x, fed}));
}

Expected<Graph> build_bert(const BuiltinInfo& info, const OptionValues& values) {
  MONET_TRY(const TransformerSizes sizes, transformer_sizes(values));
  if (sizes.tokens > values["positions"]) {
    return Error{.message = fmt::format("tokens={} is more than positions={}", sizes.tokens, values["positions"]),
                 .advice = "each token needs a row of the position table: choose fewer tokens or more positions"};
  }
  GraphBuilder builder(info.name);
  const TensorId tokens = builder.input("input", {values["batch"], sizes.tokens}, ElementType::int64);
  const Embedding embedded = embedding(builder, sizes, tokens, values["positions"]);
  TensorId x = layer_norm(builder, "norm0", embedded.tokens);
  const Attention attention{.heads = sizes.heads};
  for (std::int64_t i = 0; i < sizes.layers; ++i) {
    x = bert_block(builder, fmt::format("blocks.{}", i), x, attention, sizes.ffn);
  }
  const TensorId zero = builder.constant("first", Constant::integers(ElementType::int64, {}, {0}));
  const TensorId first = builder.add(Op::Gather, "first_token", {x, zero}, {{Attr::axis, std::int64_t{1}}});
  return finish(builder, fully_connected(builder, "head", first, values["classes"]), "logits");
}

}  // namespace

std::vector<BuiltinNetwork> bert_networks() {
  // Devlin et al. 2019, BERT-base; 128 tokens as in the reference measurements.
  std::vector<OptionInfo> options = transformer_options({12, 768, 12, 3072, 30522, 128});
  options.push_back({"positions", "rows of the position table", 512, 1, 1 << 20});
  options.push_back(classes_option(2));
  return {network("bert-base", "BERT-base with a classifier on the first token", std::move(options), build_bert)};
}

}  // namespace monet::networks
