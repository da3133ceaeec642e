// How the designs of a space are planned, judged and paid.
#pragma once

#include "config/yaml.h"
#include "explore/space/space.h"

namespace monet::explore {

// `default`, {fuse: {…}} or {checkpoint: {…}}.
Expected<Policy> read_policy(const Yaml& node);
Expected<Prices> read_prices(const Yaml& node);
// Expressions over parameters and facts of the machine, whose names are not looked at.
Expected<std::vector<Constraint>> read_constraints(const Yaml& node);
// Names of objectives of a space whose workloads and prices are known.
Expected<std::vector<Objective>> read_objectives(const Yaml& node, const Space& space);

}  // namespace monet::explore
