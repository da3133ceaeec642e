// The least time of a collective.
#pragma once

#include "fabric/phase.h"

namespace monet {

// Below every price of `collective`, whatever the algorithm: what must leave the units of each level, over the width of
// their chips there and above, after one latency; and the rounds in which a message can reach all.
double bound_of(const LevelGroups& groups, const Collective& collective);

}  // namespace monet
