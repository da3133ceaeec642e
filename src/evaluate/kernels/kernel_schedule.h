// A lowered step as a schedule, so that all that is said of schedules can be said of it: a launch is a tile of the
// operator for which it is made, on the kernel core, after the launch before it; an allocation stays in home memory
// from the first launch that touches it to the last; temporaries and workspaces of libraries are workspaces.
#pragma once

#include "evaluate/kernels/kernel_bound.h"
#include "evaluate/kernels/kernel_step.h"
#include "evaluate/machine/machine.h"
#include "evaluate/schedule/schedule.h"

namespace monet {

struct KernelSchedule {
  Assignment assignment;
  TileGraph tiles;
  Schedule schedule;
};

// Requires: the machine has a kernel core, `laws` are its, and the step is one of `graph`.
// Ensures: the schedule takes as long, costs as much energy and holds as much memory at its peak as the step does.
KernelSchedule schedule_of(const Graph& graph, const RoutedMachine& machine, const KernelStep& step,
                           const KernelLaws& laws);

}  // namespace monet
