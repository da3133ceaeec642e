// Nemotron-4 (Parmar et al. 2024, arXiv 2402.16819; NVIDIA 2024, arXiv 2406.11704): Llama's attention with half of each
// head rotated, layer norms, squared rectifiers, no biases besides those of the norms.
#include "base/try.h"
#include "networks/decoder.h"
#include "networks/network.h"
#include "networks/transformer.h"

#include <fmt/format.h>

namespace monet::networks {

namespace {

Expected<Graph> build_nemotron(const BuiltinInfo& info, const OptionValues& values) {
  MONET_TRY(const Heads heads, grouped_heads(values));
  if (heads.width % 4 != 0) {
    return Error{.message = fmt::format("a head has {} features, no multiple of 4", heads.width),
                 .advice = "half of them turn, in pairs: choose another width, heads or head_width"};
  }
  GraphBuilder builder(info.name);
  const Rotation positions = rotation(builder, values["tokens"], heads.width / 2, values["rotary_base"]);
  return decoder(
      builder, values,
      [&](const std::string& block, std::int64_t, TensorId x) {
        return grouped_attention(builder, block + ".attn", x, heads, positions);
      },
      [&](const std::string& block, std::int64_t, TensorId x) {
        return squared_feed_forward(builder, block, x, values["ffn"]);
      },
      [](GraphBuilder& b, const std::string& name, TensorId x) { return layer_norm(b, name, x); });
}

BuiltinNetwork nemotron(std::string name, std::string description, std::int64_t layers, std::int64_t width,
                        std::int64_t heads) {
  std::vector<OptionInfo> options = {layers_option(layers), width_option(width)};
  for (OptionInfo& each : grouped_head_options(heads, 8)) options.push_back(std::move(each));
  options.push_back(ffn_option(4 * width));
  options.push_back(vocabulary_option(256000));
  options.push_back(tokens_option(4096));
  options.push_back(rotary_base_option(10000));
  options.push_back(tied_option(false));
  return network(std::move(name), std::move(description), std::move(options), build_nemotron);
}

}  // namespace

std::vector<BuiltinNetwork> nemotron_networks() {
  // Table 1 of each report.
  return {nemotron("nemotron-4-15b", "Nemotron-4 15B", 32, 6144, 48),
          nemotron("nemotron-4-340b", "Nemotron-4 340B", 96, 18432, 96)};
}

}  // namespace monet::networks
