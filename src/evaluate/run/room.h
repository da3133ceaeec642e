// Where data are at home in storage: how much of the memory that cores work in may be filled, so that all in it has
// addresses there.
#pragma once

#include "evaluate/evaluate.h"

#include <monet/expected.h>
#include <monet/plan.h>

#include <cstdint>
#include <span>

namespace monet {

// The next room to try where what is in a memory needs `packed` bytes with addresses and it has `capacity`.
std::int64_t smaller_room(std::int64_t room, std::int64_t packed, std::int64_t capacity);

// The largest that was found to do; fails where none of a few does. `how` names the home. `paged` by tensor of `graph`.
Expected<std::int64_t> room_with_addresses(const Graph& graph, const Hardware& hardware, MappingCache& cache,
                                           EvaluatorOptions how, const Plan& plan, std::span<const MemoryId> paged);

}  // namespace monet
