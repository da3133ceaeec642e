// Whether all of it fits, and what could be done if not.
#pragma once

#include "evaluate/machine/machine.h"
#include "evaluate/run/result.h"
#include "mapping/cache.h"

#include <monet/evaluate.h>

namespace monet {

// Sets `fits`, and if not by how much which memory is too small. Those that are.
std::vector<MemoryId> judge_fit(Evaluation& evaluation, const Hardware& hardware, const RoutedMachine& machine);

// What would fit: a smaller batch, recomputing, paging; each evaluated.
void price_options(const Network& network, const StepRequest& options, const Hardware& hardware, Evaluation& result);

// Options that would make it better: other numbers, another lowering, order or batch; each evaluated. The three that
// help most.
void price_suggestions(const Network& network, const StepRequest& options, MappingCache& cache, Evaluation& result);

}  // namespace monet
