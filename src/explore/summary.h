// What the reports of an exploration share: a store's outcomes, judged.
#pragma once

#include "explore/price/outcome.h"
#include "explore/store/store.h"

#include <monet/explore.h>

#include <string>
#include <utility>
#include <vector>

namespace monet {

// By name, of the functions given or of the space; none: the space's.
Expected<std::vector<explore::Objective>> objectives_named(const explore::Space& space,
                                                           const std::vector<std::string>& names,
                                                           const DesignObjectives& functions = {});

// Fills in what the space and the store say: counts, front, failures, sensitivities, correlations, hypervolume.
// `tolerance`: as ExploreOptions.
Status analyse(explore::Store& store, const std::vector<explore::Objective>& objectives, double tolerance,
               Exploration& exploration);
// The same of outcomes that were read.
void analyse(const std::vector<explore::Outcome>& outcomes, const explore::Space& space,
             const std::vector<explore::Objective>& objectives, double tolerance, Exploration& exploration);
Expected<std::vector<explore::Outcome>> outcomes_of(explore::Store& store);

DesignResult result_of(const explore::Outcome& outcome, const explore::Space& space,
                       const std::vector<explore::Objective>& objectives);
// Why it did not run; empty: it did. "training: dram is too small"
std::string reason_of(const explore::Outcome& outcome, const explore::Space& space);

// "12.3 ms" of `objective`, by the metric that its name begins with.
std::string objective_text(const std::string& objective, double value);

}  // namespace monet
