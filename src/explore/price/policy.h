// A design's plan, by the policy of the space.
#pragma once

#include "evaluate/evaluate.h"
#include "explore/space/space.h"

#include <monet/expected.h>
#include <monet/plan.h>

namespace monet::explore {

// A plan of `step`, for Pricer::price(): what it leaves open is decided as always.
//  standard: says nothing;
//  fused: stacks and tiles, no worse than the standard in the objective; where kernels are compiled, the standard,
//  which
//    has a compiler's stacks. Fails where they are not;
//  checkpointed: which tensors are recomputed and paged, and the order, the usual one or that which keeps little alive
//    (recomputed early, a tensor saves nothing): the best that was found whose home memory needs no more than the
//    budget, and no more than it holds. Fails as infeasible with the least that was found.
// Deterministic, and safe on several threads that share the cache; each works alone: of `how`, jobs, progress and store
// do not count.
Expected<Plan> plan_by(const Policy& policy, const Graph& step, const Hardware& hardware, MappingCache& cache,
                       const EvaluatorOptions& how);

}  // namespace monet::explore
