// What a tile costs by the rules of ZigZag and Stream (mapping/zigzag), for comparison with them.
#pragma once

#include "compat/zigzag/search.h"
#include "evaluate/cost/tile_cost.h"

#include <monet/expected.h>

#include <cstdint>
#include <optional>
#include <span>

namespace monet {

// Stream takes the core's own dataflow; a dimension without one unrolls the first loop that it may.
ZigzagMapping stream_unrolling(const Core& core);

// Adds a layer on the first unit of a core, all operands from and to the highest memories of `target`; without a layer
// nothing: it is free. `level`: of the core, by memory of the target. `parallel`: cores that work on tiles of it at the
// same time. Sets everything but what the tile holds of local memories.
Status add_zigzag_cost(TileCost& cost, const std::optional<ZigzagLayer>& layer, const Core& core, const Target& target,
                       std::span<const std::uint8_t> level, std::int64_t parallel, std::int64_t factors);

}  // namespace monet
