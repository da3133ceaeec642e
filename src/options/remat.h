// Options of `monet remat`. The command line reads sizes and times with units: those are not here.
#pragma once

#include "options/name.h"

#include <monet/remat.h>

namespace monet {

template <class To>
void describe_remat_graph(To& to) {
  using Options = RematOptions;
  to.title("Costs and limits");
  to.option("profiles", &Options::profiles, "devices, for graphs with operation counts", "FILE");
  to.option("device", &Options::device, "which of them", "NAME");
}

template <class To>
void describe_remat_costs(To& to) {
  using Options = RematOptions;
  to.title("Costs and limits");
  to.flag("free_transfers", &Options::free_transfers, "the deadline is for computation alone, as in POET's model");
  to.option("objective", &Options::objective, "time or energy; energy where there is one by default", "WHAT")
      .one_of({"time", "energy"});
}

template <class To>
void describe_remat_search(To& to) {
  using Options = RematOptions;
  to.title("Search");
  to.option("method", &Options::method, "search, or milp: an integer program, for small graphs", "HOW")
      .one_of({"search", "milp"})
      .with_default();
  to.option("time_limit", &Options::time_limit_s, "the best found by then is the answer", "SECONDS").with_default();
  to.flag({"reorder", "reorder,!--no-reorder"}, &Options::reorder,
          "also schedules with first runs in another order; takes the time limit once more");
  to.off("recompute", &Options::recompute, "page only");
  to.off({"page", "no-paging"}, &Options::page, "recompute only");
  to.off("prune", &Options::prune, "leave repeats that are not needed");
  to.off("improve", &Options::improve, "the first schedule that is found");
  to.off("bound", &Options::bound, "do not look for a lower bound");
  to.option("seed", &Options::seed, "of the random numbers", "N").with_default();
  to.option("jobs", &Options::jobs, "threads; all processors by default", "N").within(0, 1024);
}

}  // namespace monet
