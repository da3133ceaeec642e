// GPT-2 (Radford et al. 2019): norms before each part of a block, the head's matrix shared with the token table.
#include "base/try.h"
#include "networks/layers.h"
#include "networks/network.h"
#include "networks/transformer.h"

#include <fmt/format.h>

namespace monet::networks {

namespace {

TensorId gpt2_block(GraphBuilder& builder, const std::string& name, TensorId x, const Attention& attention,
                    std::int64_t inner) {
  const TensorId attended = self_attention(builder, name + ".attn", layer_norm(builder, name + ".n1", x), attention);
  x = builder.add(Op::Add, name + ".add1", {x, attended});
  const TensorId fed = feed_forward(builder, name, layer_norm(builder, name + ".n2", x), inner);
  return builder.add(Op::Add, name + ".add2", {x, fed});
}

Expected<Graph> build_gpt2(const BuiltinInfo& info, const OptionValues& values) {
  MONET_TRY(const TransformerSizes sizes, transformer_sizes(values));
  GraphBuilder builder(info.name);
  const TensorId tokens = builder.input("input", {values["batch"], sizes.tokens}, ElementType::int64);
  const Embedding embedded = embedding(builder, sizes, tokens, sizes.tokens);
  Attention attention{.heads = sizes.heads, .causal = true, .fused = values.is_on("flash")};
  if (!attention.fused) attention.mask = causal_mask(builder, "mask", {sizes.tokens, sizes.tokens});
  TensorId x = embedded.tokens;
  for (std::int64_t i = 0; i < sizes.layers; ++i) {
    x = gpt2_block(builder, fmt::format("blocks.{}", i), x, attention, sizes.ffn);
  }
  const TensorId head =
      values.is_on("tied") ? embedded.table : builder.parameter("head.weight", {sizes.vocabulary, sizes.width});
  return finish(builder, multiply_by_transpose(builder, "head", layer_norm(builder, "norm", x), head), "logits");
}

BuiltinNetwork gpt2(std::string name, std::string description, const TransformerSizes& defaults) {
  std::vector<OptionInfo> options = transformer_options(defaults);
  options.push_back(switch_option("tied", "the head shares the token table's weights", true));
  options.push_back(switch_option("flash", "one fused operator for attention", false));
  return network(std::move(name), std::move(description), std::move(options), build_gpt2);
}

// Radford et al. 2019, table 2, first row; 50257 tokens of byte-pair encoding, context 1024.
constexpr TransformerSizes small{12, 768, 12, 3072, 50257, 1024};
// The set-up of the published FuseMax sweep, as far as it is known.
constexpr TransformerSizes mini{2, 384, 6, 1536, 20000, 256};
// The reference model gpt2_tiny.onnx.
constexpr TransformerSizes tiny{4, 256, 4, 1024, 50257, 256};

}  // namespace

std::vector<BuiltinNetwork> gpt2_networks() {
  return {gpt2("gpt2", "GPT-2 of any size, by default the small one", small),
          gpt2("gpt2-small", "GPT-2 small: 12 layers, 124 million parameters", small),
          gpt2("gpt2-mini", "GPT-2 with 2 layers of width 384, as in the FuseMax study", mini),
          gpt2("gpt2-tiny", "GPT-2 with 4 layers of width 256", tiny)};
}

}  // namespace monet::networks
