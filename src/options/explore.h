// Options of `monet explore`.
#pragma once

#include "options/name.h"

#include <monet/explore.h>

namespace monet {

template <class To>
void describe_explore_search(To& to) {
  using Options = ExploreOptions;
  to.option("population", &Options::population, "of nsga2").within(2, 1000000).with_default();
  to.option("generations", &Options::generations, "of nsga2; by the samples unless given").within(0, 1000000);
  to.option("seed", &Options::seed, "of random choices").with_default();
}

template <class To>
void describe_explore_work(To& to) {
  using Options = ExploreOptions;
  to.option("store", &Options::store, "where results are kept as they come; SPACE.sqlite here by default", "FILE");
  to.flag("resume", &Options::resume, "go on with a store that is there");
  to.option("cluster", &Options::cluster, "address of a running Dask scheduler, or local:N for N workers here",
            "ADDRESS");
  to.option("python", &Options::python, "with the package monet, for --cluster; python3 by default", "PROGRAM");
  to.option("jobs", &Options::jobs, "threads; all processors by default", "N").within(0, 1024);
  to.time_limit(&Options::time_limit_s, std::numeric_limits<double>::infinity(),
                "seconds after which what was found is the answer")
      .positive();
}

}  // namespace monet
