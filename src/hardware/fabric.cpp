#include "hardware/fabric.h"

#include <algorithm>
#include <array>

namespace monet {

namespace {

constexpr std::array<std::string_view, 4> fabric_kind_names = {"switch", "ring", "torus", "full"};
constexpr std::array<std::string_view, collective_algorithm_count> algorithm_names = {
    "ring", "tree", "halving", "direct", "in_switch", "hierarchical"};

}  // namespace

std::string_view name_of(FabricKind kind) { return fabric_kind_names[static_cast<std::size_t>(kind)]; }

std::string_view name_of(CollectiveAlgorithm algorithm) { return algorithm_names[static_cast<std::size_t>(algorithm)]; }

std::optional<CollectiveAlgorithm> collective_algorithm_named(std::string_view name) {
  const auto* const found = std::ranges::find(algorithm_names, name);
  if (found == algorithm_names.end()) return std::nullopt;
  return static_cast<CollectiveAlgorithm>(found - algorithm_names.begin());
}

std::optional<std::int64_t> Fabric::chips() const {
  if (levels.empty() || levels.back().chips == any_chips) return std::nullopt;
  return levels.back().chips;
}

}  // namespace monet
