// DeepSeek-V3 (DeepSeek-AI 2024, arXiv 2412.19437): attention over compressed keys and values, and many small experts.
// Left out: the module that predicts a second token, the biases that only choose experts and are no parameters, choice
// limited to groups of experts, and the balance loss. Tokens are counted as if loads were even (capacity=100).
#include "base/try.h"
#include "networks/decoder.h"
#include "networks/layers.h"
#include "networks/mixture.h"
#include "networks/network.h"
#include "networks/transformer.h"

#include <fmt/format.h>

namespace monet::networks {

namespace {

constexpr double routing_factor = 2.5;  // section 4.2 and the released files

// Features of a head: `content` of keys, queries and values each, and `place` that carry the position, in keys one for
// all heads. Queries, and keys with values, are first compressed.
struct LatentHeads {
  std::int64_t count, content, place, query_rank, key_value_rank;
};

Expected<LatentHeads> latent_heads(const OptionValues& values) {
  const LatentHeads heads{values["heads"], values["head_width"], values["rotary_width"], values["query_rank"],
                          values["kv_rank"]};
  if (heads.place % 2 == 0) return heads;
  return Error{.message = fmt::format("rotary_width={} is an odd number", heads.place),
               .advice = "rotary positions turn features in pairs: choose an even number"};
}

std::vector<TensorId> split(GraphBuilder& builder, const std::string& name, TensorId x, std::int64_t axis,
                            std::int64_t first, std::int64_t second) {
  return builder.add_many(Op::Split, name + ".split", {x},
                          {{Attr::axis, axis}, {Attr::split, std::vector<std::int64_t>{first, second}}}, 2);
}

TensorId joined(GraphBuilder& builder, const std::string& name, TensorId content, TensorId place) {
  return builder.add(Op::Concat, name + ".whole", {content, place}, {{Attr::axis, std::int64_t{3}}});
}

// Section 2.1.1.
TensorId latent_attention(GraphBuilder& builder, const std::string& name, TensorId x, const LatentHeads& heads,
                          const Rotation& positions) {
  const auto up = [&](const std::string& part, TensorId latent, std::int64_t features) {
    const TensorId normed = rms_norm(builder, part + ".norm", latent);
    return by_head(builder, part, linear_without_bias(builder, part, normed, heads.count * features), heads.count);
  };
  const TensorId query_latent = linear_without_bias(builder, name + ".q_down", x, heads.query_rank);
  const auto query = split(builder, name + ".q", up(name + ".q", query_latent, heads.content + heads.place), 3,
                           heads.content, heads.place);
  const TensorId down = linear_without_bias(builder, name + ".kv_down", x, heads.key_value_rank + heads.place);
  const auto latent = split(builder, name + ".kv_down", down, 2, heads.key_value_rank, heads.place);
  const auto key_value =
      split(builder, name + ".kv", up(name + ".kv", latent[0], 2 * heads.content), 3, heads.content, heads.content);
  const TensorId key_place = rotated(builder, name + ".k", by_head(builder, name + ".k", latent[1], 1), positions);
  const TensorId key_places =
      builder.add(Op::Expand, name + ".k.all_heads", {key_place},
                  {{Attr::shape, Shape{axis_size(builder, x, 0), heads.count, axis_size(builder, x, 1), heads.place}}});
  const TensorId whole_query =
      joined(builder, name + ".q", query[0], rotated(builder, name + ".q", query[1], positions));
  const TensorId whole_key = joined(builder, name + ".k", key_value[0], key_places);
  const TensorId context =
      by_token(builder, name, causal_attention(builder, name, whole_query, whole_key, key_value[1]));
  return linear_without_bias(builder, name + ".out", context, axis_size(builder, x, 2));
}

Expected<Graph> build_deepseek(const BuiltinInfo& info, const OptionValues& values) {
  MONET_TRY(const LatentHeads heads, latent_heads(values));
  MONET_TRY(Mixture experts, mixture(values));
  experts.sigmoid_factor = routing_factor;
  GraphBuilder builder(info.name);
  const Rotation positions = rotation(builder, values["tokens"], heads.place, values["rotary_base"]);
  return decoder(
      builder, values,
      [&](const std::string& block, std::int64_t, TensorId x) {
        return latent_attention(builder, block + ".attn", x, heads, positions);
      },
      [&](const std::string& block, std::int64_t layer, TensorId x) {
        if (layer < values["dense"]) return gated_feed_forward(builder, block, x, values["ffn"]);
        return mixture_of_experts(builder, block + ".moe", x, experts);
      });
}

}  // namespace

std::vector<BuiltinNetwork> deepseek_networks() {
  // Section 4.2, and the released files for what it does not state (18,432 and 129,280).
  std::vector<OptionInfo> options = {
      layers_option(61),
      width_option(7168),
      {"heads", "attention heads", 128, 1, 1 << 12},
      {"head_width", "features of a head without its position", 128, 1, 1 << 14},
      {"rotary_width", "features of a head that carry its position, even", 64, 2, 1 << 14},
      {"query_rank", "features of compressed queries", 1536, 1, 1 << 16},
      {"kv_rank", "features of compressed keys and values", 512, 1, 1 << 16}};
  for (OptionInfo& each : mixture_options({256, 8, 1, 2048})) options.push_back(std::move(each));
  options.push_back({"dense", "layers in front that have no experts", 3, 0, 1024});
  options.push_back(ffn_option(18432));
  options.push_back(vocabulary_option(129280));
  options.push_back(tokens_option(4096));
  options.push_back(rotary_base_option(10000));
  options.push_back(tied_option(false));
  return {network("deepseek-v3", "DeepSeek-V3: 671 billion parameters, 37 active; without its second prediction",
                  std::move(options), build_deepseek)};
}

}  // namespace monet::networks
