// Llama (Touvron et al. 2023) and what is built like it.
#include "base/try.h"
#include "networks/decoder.h"
#include "networks/network.h"
#include "networks/transformer.h"

namespace monet::networks {

namespace {

struct LlamaSizes {
  std::int64_t layers, width, heads, key_value_heads, ffn, vocabulary, tokens, rotary_base;
};

Expected<Graph> build_llama(const BuiltinInfo& info, const OptionValues& values) {
  MONET_TRY(const Heads heads, grouped_heads(values));
  GraphBuilder builder(info.name);
  const Rotation positions = rotation(builder, values["tokens"], heads.width, values["rotary_base"]);
  return decoder(
      builder, values,
      [&](const std::string& block, std::int64_t, TensorId x) {
        return grouped_attention(builder, block + ".attn", x, heads, positions);
      },
      [&](const std::string& block, std::int64_t, TensorId x) {
        return gated_feed_forward(builder, block, x, values["ffn"]);
      });
}

BuiltinNetwork llama(std::string name, std::string description, const LlamaSizes& sizes) {
  std::vector<OptionInfo> options = {layers_option(sizes.layers), width_option(sizes.width)};
  for (OptionInfo& each : grouped_head_options(sizes.heads, sizes.key_value_heads)) options.push_back(std::move(each));
  options.push_back(ffn_option(sizes.ffn));
  options.push_back(vocabulary_option(sizes.vocabulary));
  options.push_back(tokens_option(sizes.tokens));
  options.push_back(rotary_base_option(sizes.rotary_base));
  options.push_back(tied_option(false));
  return network(std::move(name), std::move(description), std::move(options), build_llama);
}

}  // namespace

std::vector<BuiltinNetwork> llama_networks() {
  // Touvron et al. 2023 (Llama 2), section 2 and table 1; sizes of the feed-forward part as in the released files.
  constexpr LlamaSizes llama2_7b{32, 4096, 32, 32, 11008, 32000, 4096, 10000};
  constexpr LlamaSizes llama2_13b{40, 5120, 40, 40, 13824, 32000, 4096, 10000};
  constexpr LlamaSizes llama2_70b{80, 8192, 64, 8, 28672, 32000, 4096, 10000};
  // Dubey et al. 2024 (The Llama 3 Herd of Models), table 3; 8192 tokens as in section 3.4.1; 128,256 rows of the
  // tables, 256 of them for special tokens, as in the released files.
  constexpr LlamaSizes llama3_8b{32, 4096, 32, 8, 14336, 128256, 8192, 500000};
  constexpr LlamaSizes llama3_70b{80, 8192, 64, 8, 28672, 128256, 8192, 500000};
  constexpr LlamaSizes llama3_405b{126, 16384, 128, 8, 53248, 128256, 8192, 500000};
  return {llama("llama", "Llama of any size, by default Llama 3 8B", llama3_8b),
          llama("llama2-7b", "Llama 2 7B", llama2_7b),
          llama("llama2-13b", "Llama 2 13B", llama2_13b),
          llama("llama2-70b", "Llama 2 70B: keys and values shared by 8 heads", llama2_70b),
          llama("llama3-8b", "Llama 3 8B, 8.03 billion parameters", llama3_8b),
          llama("llama3-70b", "Llama 3 70B, 70.55 billion parameters", llama3_70b),
          llama("llama3-405b", "Llama 3 405B, 405.85 billion parameters", llama3_405b)};
}

}  // namespace monet::networks
