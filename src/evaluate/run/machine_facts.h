// What the machine of a step could do at best, and what its file leaves to be derived.
#pragma once

#include "evaluate/account/step.h"

#include <monet/evaluate.h>

#include <map>
#include <string>

namespace monet {

// By the precision that tiles run in.
std::map<std::string, double> macs_by_precision(const Schedule& schedule);

// MACs of all cores in a cycle; at rate 1 where no unit lists the precision.
double macs_per_cycle(const Hardware& hardware, const std::string& precision);

// Derived values are named after types of core, equal ones are there once, and there are at most `most`.
MachineFacts machine_facts(const ScheduledStep& step, std::size_t most = 300);

}  // namespace monet
