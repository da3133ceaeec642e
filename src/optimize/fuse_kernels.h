// Stacks on a graphics processor: operators that a compiler makes one kernel of.
#pragma once

#include <monet/expected.h>
#include <monet/fuse.h>

namespace monet {

// Whether the machine has laws of kernels, by which a step is lowered to launches.
bool fuses_kernels(const FuseOptions& options);

// The stacks of the compiler's policy (kernels/compile), then as long as it saves: a stack taken apart, or its first or
// last operator left out. Each try is priced by the laws, of the whole step. Where running operators one by one is
// better in the objective than all of it, that is the answer, and the plan has no stacks.
Expected<Fusion> fuse_kernels(const Network& network, const FuseOptions& options);

}  // namespace monet
