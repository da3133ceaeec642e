// Networks that need no file: named wherever a model is expected, with sizes as options ("gpt2:layers=2,width=384").
#pragma once

#include "graph/graph.h"
#include "networks/options.h"

#include <monet/expected.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace monet {

struct BuiltinInfo {
  std::string name;
  std::string description;
  std::vector<OptionInfo> options;
};

// All of them, in the order in which help shows them.
std::span<const BuiltinInfo> builtin_networks();

// Whether the part of `spec` before a ':' is the name of a built-in network. Its options may still be wrong.
bool is_builtin(std::string_view spec);

// The forward graph, in float32, of "NAME" or "NAME:OPTION=NUMBER,…". `batch` wins over the option of that name.
// Every error has `spec` in its place and says what to do.
Expected<Graph> build_builtin(const std::string& spec, std::optional<std::int64_t> batch = std::nullopt);

}  // namespace monet
