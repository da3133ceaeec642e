// The cores for which a plan is made: all of each kind, or the first half, quarter, … of them.
#pragma once

#include "evaluate/machine/machine.h"

#include <algorithm>
#include <cstdint>
#include <span>

namespace monet {

struct CoreShare {
  std::uint32_t halvings = 0;
  static constexpr std::uint32_t most_halvings = 15;

  // At least one.
  std::span<const CoreId> of_kind(const RoutedMachine& machine, std::size_t kind) const {
    const std::span<const CoreId> all = machine.cores_of_kind(kind);
    return all.first(std::max<std::size_t>(1, all.size() >> halvings));
  }
};

}  // namespace monet
