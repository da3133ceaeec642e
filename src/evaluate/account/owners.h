// Which operator a transfer is for.
#pragma once

#include "evaluate/account/step.h"

#include <vector>

namespace monet {

// By transfer. Data that are brought (fetched, passed from core to core, paged in) belong to the operator of the first
// tile that uses them afterwards there; data that are taken away to the operator that made them. Where there is no such
// operator, to any that makes or uses them. Not valid: nobody does. O(n log n) for n transfers and reads, and a memory
// of each for every buffer that is moved.
std::vector<NodeId> owners_of(const ScheduledStep& step);

}  // namespace monet
