#include "base/suggest.h"
#include "base/try.h"
#include "networks/builtin.h"

#include <monet/inspect.h>
#include <monet/networks.h>

#include <fmt/format.h>

#include <algorithm>

namespace monet {

namespace {

Expected<NetworkSummary> summary_of(const BuiltinInfo& info) {
  NetworkSummary summary{.name = info.name, .description = info.description};
  for (const OptionInfo& option : info.options)
    summary.sizes.push_back({.name = option.name,
                             .meaning = option.meaning,
                             .by_default = option.default_value,
                             .smallest = option.smallest,
                             .largest = option.largest});
  MONET_TRY(const Inspection inspection, inspect(Network(info.name)));
  summary.parameters = inspection.parameters;
  summary.macs = inspection.macs.forward;
  summary.operators = inspection.nodes.forward;
  return summary;
}

}  // namespace

Expected<std::vector<NetworkSummary>> list_networks(const std::string& only) {
  std::vector<NetworkSummary> networks;
  std::vector<std::string> names;
  for (const BuiltinInfo& info : builtin_networks()) {
    names.push_back(info.name);
    if (!only.empty() && info.name != only) continue;
    MONET_TRY(NetworkSummary summary, summary_of(info));
    networks.push_back(std::move(summary));
  }
  if (!networks.empty()) return networks;
  const std::string near = nearest(only, names);
  return Error{.message = "there is no built-in network of that name",
               .place = only,
               .advice = near.empty() ? "monet networks lists them" : fmt::format("did you mean '{}'?", near)};
}

}  // namespace monet
