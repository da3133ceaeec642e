// Launches of a group as the kernels that a compiler writes for them.
#pragma once

#include "kernels/compile/group.h"
#include "kernels/law_values.h"

namespace monet::compiling {

// Replaces the launches of `step` by one for each group; sums that blocks leave in parts are finished by launches of
// their own. A kernel moves what it reads from outside and what others read of it. It takes what an element-wise kernel
// of as many bytes takes, or one of sums along rows where it has sums; longer where one of its operators is bound by
// the cores or permutes the last axis. A group of one library launch stays as it is.
LoweredStep fused(const LoweredStep& step, const std::vector<Part>& parts, const std::vector<LaunchGroup>& groups,
                  const KernelLaws& laws);

}  // namespace monet::compiling
