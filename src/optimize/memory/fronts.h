// Fronts of memory, time and energy: plans within a budget and a deadline of which none is better than another in all
// three; with an objective of the user's own, of memory and that.
#pragma once

#include "optimize/memory/exact.h"
#include "optimize/memory/search.h"

#include <span>

namespace monet {

// What counts as memory.
enum class MemoryMeasure : std::uint8_t {
  peak,   // of the memory of the budget
  saved,  // bytes that are kept for the backward part
};

// The best of all that the prices know when the genetic search has ended; it begins with all kept.
Expected<std::vector<Genome>> genetic_front(MemoryPrices& prices, const MemoryGoal& goal, MemoryMeasure measure,
                                            const GeneticOptions& options);

// Of all plans, as price_all() gives them.
Expected<std::vector<Genome>> exact_front(MemoryPrices& prices, std::span<const ExactPoint> points,
                                          const MemoryGoal& goal, MemoryMeasure measure);

}  // namespace monet
