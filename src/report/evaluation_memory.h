// Addresses in memories, whether all of it fits, and what could be done if not.
#pragma once

#include "evaluate/machine/machine.h"
#include "evaluate/plan/plan.h"
#include "report/evaluation_parts.h"

#include <monet/evaluate.h>

namespace monet {

// Addresses for the tensors in home memories and storage, and for the buffers in memories that several cores share.
// Fails (a defect) when the packing does not pass its own check.
Expected<PackedStays> pack_stays(const ScheduledStep& step, const Machine& machine);

// Sets `fits`, and if not by how much which memory is too small. Those that are.
std::vector<MemoryId> judge_fit(Evaluation& evaluation, const Hardware& hardware, const Machine& machine);

// What would fit: a smaller batch, recomputing, paging; each evaluated.
void price_options(const std::string& model, const EvaluateOptions& options, const Hardware& hardware,
                   Evaluation& result);

// A plan that leaves nothing open and gives the same result. `original`: the graph before anything was recomputed.
Plan plan_as_carried_out(const ScheduledStep& step, const Plan& plan, const Graph& original);

}  // namespace monet
