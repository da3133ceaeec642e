#include "networks/builtin.h"

#include "base/suggest.h"
#include "base/try.h"
#include "graph/verify.h"
#include "networks/network.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

namespace monet {

namespace networks {

namespace {

constexpr std::int64_t largest_batch = 1 << 20;

const std::vector<BuiltinNetwork>& table() {
  static const std::vector<BuiltinNetwork> all = [] {
    std::vector<BuiltinNetwork> networks;
    for (auto* family : {resnet_networks, mobilenet_networks, vit_networks, gpt_networks, gpt2like_networks,
                         llama_networks, nemotron_networks, mixture_networks, deepseek_networks, bert_networks,
                         mlp_networks, pets_networks, lenet_networks, unet_networks, fsrcnn_networks}) {
      std::ranges::move(family(), std::back_inserter(networks));
    }
    return networks;
  }();
  return all;
}

std::string_view name_in(std::string_view spec) { return spec.substr(0, spec.find(':')); }

const BuiltinNetwork* find(std::string_view name) {
  const auto found =
      std::ranges::find(table(), name, [](const BuiltinNetwork& each) -> std::string_view { return each.info.name; });
  return found == table().end() ? nullptr : &*found;
}

Error unknown_network(std::string_view name) {
  std::vector<std::string> names;
  for (const BuiltinNetwork& each : table()) names.push_back(each.info.name);
  const std::string guess = nearest(name, names);
  return {
      .message = fmt::format("there is no built-in network '{}'", name),
      .advice = fmt::format("{}the built-in networks are {}",
                            guess.empty() ? "" : fmt::format("did you mean '{}'? ", guess), fmt::join(names, ", "))};
}

Expected<Graph> build(std::string_view spec, std::optional<std::int64_t> batch) {
  const std::string_view name = name_in(spec);
  const BuiltinNetwork* network = find(name);
  if (network == nullptr) return unknown_network(name);
  const std::vector<OptionInfo>& options = network->info.options;
  OptionValues values(options);
  if (name.size() < spec.size()) {
    MONET_TRY(values, parse_options(spec.substr(name.size() + 1), name, options));
  }
  if (batch) {
    MONET_RETURN_IF_ERROR(check_range(*std::ranges::find(options, "batch", &OptionInfo::name), *batch));
    values.set("batch", *batch);
  }
  MONET_TRY(Graph graph, network->build(network->info, values));
  MONET_RETURN_IF_ERROR(verify(graph));
  return graph;
}

}  // namespace

BuiltinNetwork network(std::string name, std::string description, std::vector<OptionInfo> options,
                       Expected<Graph> (*build)(const BuiltinInfo&, const OptionValues&), std::int64_t batch) {
  options.insert(options.begin(), {"batch", "samples in a step", batch, 1, largest_batch});
  return {.info = {.name = std::move(name), .description = std::move(description), .options = std::move(options)},
          .build = build};
}

OptionInfo image_option(std::int64_t default_value, std::int64_t smallest) {
  return {"image", "height and width of the image in pixels", default_value, smallest, 1 << 14};
}

OptionInfo classes_option(std::int64_t default_value) {
  return {"classes", "classes to tell apart", default_value, 1, 1 << 24};
}

OptionInfo rotary_base_option(std::int64_t default_value) {
  return {"rotary_base", "base of the speeds at which rotary positions turn", default_value, 2, 1LL << 40};
}

OptionInfo tied_option(bool default_value) {
  return switch_option("tied", "the head shares the token table's weights", default_value);
}

OptionInfo switch_option(std::string name, std::string meaning, bool default_value) {
  return {std::move(name), std::move(meaning), default_value ? 1 : 0, 0, 1};
}

}  // namespace networks

std::span<const BuiltinInfo> builtin_networks() {
  static const std::vector<BuiltinInfo> infos = [] {
    std::vector<BuiltinInfo> list;
    for (const networks::BuiltinNetwork& each : networks::table()) list.push_back(each.info);
    return list;
  }();
  return infos;
}

bool is_builtin(std::string_view spec) { return networks::find(networks::name_in(spec)) != nullptr; }

Expected<Graph> build_builtin(const std::string& spec, std::optional<std::int64_t> batch) {
  auto graph = networks::build(spec, batch);
  if (!graph) {
    Error& error = graph.error();
    error.place = error.place.empty() ? spec : fmt::format("{}: {}", spec, error.place);
    if (error.advice.empty()) error.advice = "choose smaller sizes";
  }
  return graph;
}

}  // namespace monet
