// Searches for plans of a step on a machine: each takes what evaluate() takes, and gives plans for it.
#pragma once

#include <monet/checkpoint.h>
#include <monet/fuse.h>
#include <monet/optimize.h>

namespace monet {

// What `plan` says is kept to: of fuse() all but its stacks. Of the step, machine and plan in `options` nothing is
// looked at; threads, progress and stop stand there.
Expected<Fusion> fuse(const Step& step, const Machine& machine, const Plan& plan = {}, FuseOptions options = {});
Expected<Checkpointing> checkpoint(const Step& step, const Machine& machine, const Plan& plan = {},
                                   CheckpointOptions options = {});
Expected<Optimization> optimize(const Step& step, const Machine& machine, const Plan& plan = {},
                                OptimizeOptions options = {});

}  // namespace monet
