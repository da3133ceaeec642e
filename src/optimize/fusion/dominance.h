// Sets that no cheapest cover needs.
#pragma once

#include "optimize/fusion/candidates.h"

#include <span>
#include <vector>

namespace monet::fusion {

// By set, whether it can be in a cheapest cover that prefers small sets: it costs less than its operators one by one,
// and than one set within it with the rest one by one. Such splits never make sets wait for each other.
std::vector<std::uint8_t> worthwhile(const Candidates& candidates, std::size_t operators,
                                     std::span<const double> costs);

}  // namespace monet::fusion
