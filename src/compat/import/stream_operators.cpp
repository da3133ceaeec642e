#include "base/try.h"
#include "compat/import/stream_mapping.h"
#include "graph/op.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace monet {

namespace {

// What that tool, or ONNX, calls otherwise than the graph does; empty: a layer's own name.
std::string operator_pattern(const std::string& name) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 6> others = {{
      {"Pool", "*Pool"},
      {"Pooling", "*Pool"},
      {"GlobalAveragePool", "ReduceMean"},
      {"GlobalMaxPool", "ReduceMax"},
      {"QLinearConv", "Conv"},
      {"FusedMatMul", "MatMul"},
  }};
  if (op_named(name)) return name;
  const auto found = std::find_if(others.begin(), others.end(), [&](const auto& other) { return other.first == name; });
  return found == others.end() ? std::string() : std::string(found->second);
}

void add_once(std::vector<std::string>& list, const std::string& text) {
  if (std::find(list.begin(), list.end(), text) == list.end()) list.push_back(text);
}

}  // namespace

Status assign_operators(StreamSystem& system, const StreamMapping& mapping, const std::string& path) {
  Hardware& hardware = system.hardware;
  std::vector<std::vector<std::string>> operators(hardware.cores.size());
  std::vector<bool> takes_rest(hardware.cores.size(), false), used(hardware.cores.size(), false);
  std::vector<std::string> named;
  for (const StreamLayer& layer : mapping.layers) {
    const std::string pattern = operator_pattern(layer.name);
    if (!pattern.empty()) add_once(named, pattern);
    for (const auto& ids : layer.cores) {
      for (const std::int64_t id : ids) {
        const auto part = system.parts.find(id);
        if (part == system.parts.end() || !part->second.core.valid()) {
          return Error{
              .message = fmt::format("'{}' is given to core {}, which the system does not have", layer.name, id),
              .place = path,
              .advice = "use the ids of the cores that compute in the system's file"};
        }
        const std::size_t core = part->second.core.index();
        used[core] = true;
        if (layer.name == "default") takes_rest[core] = true;
        if (!pattern.empty()) add_once(operators[core], pattern);
      }
    }
  }
  for (std::size_t i = 0; i < operators.size(); ++i) {
    if (takes_rest[i]) {
      // All that no other core was given in particular.
      std::vector<std::string> rest = {"*"};
      for (const std::string& pattern : named)
        if (std::find(operators[i].begin(), operators[i].end(), pattern) == operators[i].end())
          rest.push_back("!" + pattern);
      operators[i] = std::move(rest);
    }
    if (!used[i]) {
      hardware.notes.push_back(fmt::format("the mapping gives core '{}' nothing to run", hardware.cores[i].name));
      continue;
    }
    hardware.cores[i].operators = std::move(operators[i]);
  }
  return Done{};
}

}  // namespace monet
