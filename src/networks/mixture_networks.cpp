// Decoders whose feed-forward parts are mixtures of experts: Mixtral (Jiang et al. 2024) and what is built like it.
// Left out: losses that balance the experts' loads. Tokens are counted as if loads were even (capacity=100).
#include "base/try.h"
#include "networks/decoder.h"
#include "networks/mixture.h"
#include "networks/network.h"
#include "networks/transformer.h"

namespace monet::networks {

namespace {

struct MixtureSizes {
  std::int64_t layers, width, heads, key_value_heads, vocabulary, tokens, rotary_base;
  MixtureDefaults experts;
};

Expected<Graph> build_mixture(const BuiltinInfo& info, const OptionValues& values) {
  MONET_TRY(const Heads heads, grouped_heads(values));
  MONET_TRY(const Mixture experts, mixture(values));
  GraphBuilder builder(info.name);
  const Rotation positions = rotation(builder, values["tokens"], heads.width, values["rotary_base"]);
  return decoder(
      builder, values,
      [&](const std::string& block, std::int64_t, TensorId x) {
        return grouped_attention(builder, block + ".attn", x, heads, positions);
      },
      [&](const std::string& block, std::int64_t, TensorId x) {
        return mixture_of_experts(builder, block + ".moe", x, experts);
      });
}

BuiltinNetwork moe(std::string name, std::string description, const MixtureSizes& sizes) {
  std::vector<OptionInfo> options = {layers_option(sizes.layers), width_option(sizes.width)};
  for (OptionInfo& each : grouped_head_options(sizes.heads, sizes.key_value_heads)) options.push_back(std::move(each));
  for (OptionInfo& each : mixture_options(sizes.experts)) options.push_back(std::move(each));
  options.push_back(vocabulary_option(sizes.vocabulary));
  options.push_back(tokens_option(sizes.tokens));
  options.push_back(rotary_base_option(sizes.rotary_base));
  options.push_back(tied_option(false));
  return network(std::move(name), std::move(description), std::move(options), build_mixture);
}

}  // namespace

std::vector<BuiltinNetwork> mixture_networks() {
  // Jiang et al. 2024 (Mixtral of Experts, arXiv 2401.04088), table 1; base of the rotation as in the released files.
  constexpr MixtureSizes mixtral_8x7b{32, 4096, 32, 8, 32000, 32768, 1000000, {8, 2, 0, 14336}};
  // Sizes in the released files of Mixtral 8x22B v0.1 (mistral.ai, April 2024: 141 billion parameters, 39 active).
  constexpr MixtureSizes mixtral_8x22b{56, 6144, 48, 8, 32000, 65536, 1000000, {8, 2, 0, 16384}};
  return {moe("moe", "decoder with experts of any size, by default Mixtral 8x7B", mixtral_8x7b),
          moe("mixtral-8x7b", "Mixtral 8x7B: 46.7 billion parameters, 12.9 active", mixtral_8x7b),
          moe("mixtral-8x22b", "Mixtral 8x22B: 140.6 billion parameters, 39.2 active", mixtral_8x22b)};
}

}  // namespace monet::networks
