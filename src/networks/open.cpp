#include "networks/open.h"

#include "base/suggest.h"
#include "base/try.h"
#include "graph/narrow.h"
#include "networks/builtin.h"

#include <fmt/format.h>

#include <filesystem>

namespace monet {

namespace {

bool looks_like_file(const std::string& model) {
  return model.find('/') != std::string::npos || model.ends_with(".onnx");
}

Error unknown_model(const std::string& model) {
  std::vector<std::string> names;
  for (const BuiltinInfo& info : builtin_networks()) names.push_back(info.name);
  const std::string guess = nearest(model.substr(0, model.find(':')), names);
  std::string advice =
      guess.empty() ? fmt::format("built in are {}", fmt::join(names, ", ")) : fmt::format("did you mean '{}'?", guess);
  return {.message = "there is no such file and no built-in network of that name",
          .place = model,
          .advice = std::move(advice)};
}

}  // namespace

Expected<NetworkGraph> open_network(const std::string& model, const onnx::ReadOptions& options) {
  if (!looks_like_file(model)) {
    if (is_builtin(model)) {
      if (!options.dimensions.empty()) {
        return Error{
            .message = fmt::format("a built-in network has no dimension '{}'", options.dimensions.front().first),
            .place = model,
            .advice = "give its sizes as options, as in gpt2:tokens=128"};
      }
      NetworkGraph network;
      MONET_TRY(network.graph, build_builtin(model, options.batch));
      MONET_RETURN_IF_ERROR(choose_roles(network.graph, options.roles));
      return network;
    }
    if (!std::filesystem::exists(model)) return unknown_model(model);
  }
  MONET_TRY(NetworkGraph network, onnx::read(model, options));
  MONET_RETURN_IF_ERROR(choose_roles(network.graph, options.roles));
  MONET_TRY(network.graph, with_few_inputs(std::move(network.graph), network.notes));
  return network;
}

}  // namespace monet
