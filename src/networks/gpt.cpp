// GPT-2 (Radford et al. 2019): norms before each part of a block, the head's matrix shared with the token table. And
// the larger ones on which training over many chips has been published, with the same blocks.
#include "base/try.h"
#include "networks/layers.h"
#include "networks/network.h"
#include "networks/transformer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace monet::networks {

namespace {

TensorId gpt_block(GraphBuilder& builder, const std::string& name, TensorId x, const Attention& attention,
                   std::int64_t inner) {
  TensorId attended = self_attention(builder, name + ".attn", layer_norm(builder, name + ".n1", x), attention);
  attended = dropout(builder, name + ".attn", attended, attention.dropout);
  x = builder.add(Op::Add, name + ".add1", {x, attended});
  TensorId fed = feed_forward(builder, name, layer_norm(builder, name + ".n2", x), inner);
  fed = dropout(builder, name + ".down", fed, attention.dropout);
  return builder.add(Op::Add, name + ".add2", {x, fed});
}

Expected<Graph> gpt_graph(const BuiltinInfo& info, const OptionValues& values, const TransformerSizes& sizes,
                          Attention attention) {
  GraphBuilder builder(info.name);
  const TensorId tokens = builder.input("input", {values["batch"], sizes.tokens}, ElementType::int64);
  const Embedding embedded = embedding(builder, sizes, tokens, sizes.tokens);
  if (!attention.fused) attention.mask = causal_mask(builder, "mask", {sizes.tokens, sizes.tokens});
  TensorId x = dropout(builder, "embedding", embedded.tokens, attention.dropout);
  for (std::int64_t i = 0; i < sizes.layers; ++i) {
    x = gpt_block(builder, fmt::format("blocks.{}", i), x, attention, sizes.ffn);
  }
  const TensorId head =
      values.is_on("tied") ? embedded.table : builder.parameter("head.weight", {sizes.vocabulary, sizes.width});
  return finish(builder, multiply_by_transpose(builder, "head", layer_norm(builder, "norm", x), head), "logits");
}

Expected<Graph> build_gpt2(const BuiltinInfo& info, const OptionValues& values) {
  MONET_TRY(const TransformerSizes sizes, transformer_sizes(values));
  return gpt_graph(info, values, sizes, {.heads = sizes.heads, .causal = true, .fused = values.is_on("flash")});
}

Expected<Graph> build_gpt(const BuiltinInfo& info, const OptionValues& values) {
  MONET_TRY(TransformerSizes sizes, transformer_sizes(values));
  if (sizes.ffn == 0) sizes.ffn = 4 * sizes.width;
  const double share = static_cast<double>(values["dropout"]) / 100;
  const bool fused = values.is_on("flash");
  if (fused && share > 0) {
    return Error{.message = fmt::format("flash=1 and dropout={} exclude each other: the fused operator drops nothing",
                                        values["dropout"]),
                 .advice = "choose dropout=0 or flash=0"};
  }
  return gpt_graph(info, values, sizes,
                   {.heads = sizes.heads, .causal = true, .fused = fused, .head_major = true, .dropout = share});
}

std::vector<OptionInfo> gpt2_options(const TransformerSizes& defaults) {
  std::vector<OptionInfo> options = transformer_options(defaults);
  options.push_back(tied_option(true));
  options.push_back(switch_option("flash", "one fused operator for attention", false));
  return options;
}

BuiltinNetwork gpt2(std::string name, std::string description, const TransformerSizes& defaults) {
  return network(std::move(name), std::move(description), gpt2_options(defaults), build_gpt2);
}

struct GptSizes {
  std::int64_t layers, width, heads;
};

// With the vocabulary and the sequences of all of them: 51,200 tokens, which is GPT-2's made a multiple of 1024.
BuiltinNetwork gpt(std::string name, std::string description, const GptSizes& sizes) {
  std::vector<OptionInfo> options = gpt2_options({sizes.layers, sizes.width, sizes.heads, 0, 51200, 2048});
  OptionInfo& ffn = *std::ranges::find(options, "ffn", &OptionInfo::name);
  ffn.meaning += "; 0: four times width";
  ffn.smallest = 0;
  options.push_back({"dropout", "per cent that is dropped: of sums, attention and embeddings", 0, 0, 99});
  return network(std::move(name), std::move(description), std::move(options), build_gpt);
}

// Radford et al. 2019, table 2, first row; 50257 tokens of byte-pair encoding, context 1024.
constexpr TransformerSizes small{12, 768, 12, 3072, 50257, 1024};
// The set-up of the published FuseMax sweep, as far as it is known.
constexpr TransformerSizes mini{2, 384, 6, 1536, 20000, 256};
// The reference model gpt2_tiny.onnx.
constexpr TransformerSizes tiny{4, 256, 4, 1024, 50257, 256};

}  // namespace

std::vector<BuiltinNetwork> gpt_networks() {
  std::vector<BuiltinNetwork> networks = {
      gpt2("gpt2", "GPT-2 of any size, by default the small one", small),
      gpt2("gpt2-small", "GPT-2 small: 12 layers, 124 million parameters", small),
      gpt2("gpt2-mini", "GPT-2 with 2 layers of width 384, as in the FuseMax study", mini),
      gpt2("gpt2-tiny", "GPT-2 with 4 layers of width 256", tiny),
      // Brown et al. 2020 and, with 51,200 tokens, Korthikanti et al. 2022, table 3.
      gpt("gpt", "GPT of any size with biases and learned positions, by default GPT-3 175B", {96, 12288, 96}),
      gpt("gpt3-175b", "GPT-3 175B", {96, 12288, 96})};
  // Narayanan et al. 2021 (arXiv 2104.04473), table 1.
  const std::pair<std::string_view, GptSizes> narayanan[] = {
      {"1.7b", {24, 2304, 24}},    {"3.6b", {30, 3072, 32}},     {"7.5b", {36, 4096, 32}},
      {"18.4b", {40, 6144, 48}},   {"39.1b", {48, 8192, 64}},    {"76.1b", {60, 10240, 80}},
      {"145.6b", {80, 12288, 96}}, {"310.1b", {96, 16384, 128}}, {"529.6b", {105, 20480, 128}},
      {"1008b", {128, 25600, 160}}};
  for (const auto& [size, sizes] : narayanan) {
    networks.push_back(
        gpt(fmt::format("gpt-{}", size), fmt::format("GPT {} of Megatron-LM's scaling table", size), sizes));
  }
  // Korthikanti et al. 2022 (arXiv 2205.05198), table 3.
  const std::pair<std::string_view, GptSizes> korthikanti[] = {
      {"22b", {48, 6144, 64}}, {"530b", {105, 20480, 128}}, {"1t", {128, 25600, 160}}};
  for (const auto& [size, sizes] : korthikanti) {
    networks.push_back(
        gpt(fmt::format("gpt-{}", size), fmt::format("GPT {} of the study on recomputation", size), sizes));
  }
  return networks;
}

}  // namespace monet::networks
