// Options of searches by the names of the command line; those of the step stand in their member `evaluate`.
#include "python/bindings.h"

#include <monet/checkpoint.h>
#include <monet/explore.h>
#include <monet/fuse.h>
#include <monet/optimize.h>
#include <monet/remat.h>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <limits>

namespace nb = nanobind;

namespace monet::python {

namespace {

// None: no limit, which the library writes as `none`.
template <class Options>
void bind_time_limit(nb::class_<Options>& options, double none) {
  options.def_prop_rw(
      "time_limit",
      [none](const Options& self) {
        return self.time_limit_s == none ? std::optional<double>() : std::optional(self.time_limit_s);
      },
      [none](Options& self, std::optional<double> seconds) { self.time_limit_s = seconds.value_or(none); },
      nb::for_setter(nb::arg("value").none()));
}

constexpr double unlimited = std::numeric_limits<double>::infinity();

void bind_fuse_options(nb::module_& module) {
  nb::class_<FuseOptions> options(module, "FuseOptions", "As `monet fuse` takes them.");
  options.def(nb::init<>())
      .def_rw("evaluate", &FuseOptions::step)
      .def_rw("objective", &FuseOptions::objective)
      .def_rw("rules", &FuseOptions::rules)
      .def_rw("limit", &FuseOptions::limit)
      .def_rw("max_conv", &FuseOptions::convolutions)
      .def_rw("max_transposed", &FuseOptions::transposed)
      .def_rw("max_products", &FuseOptions::products)
      .def_rw("max_conv_with_product", &FuseOptions::convolutions_with_product)
      .def_rw("max_leaving", &FuseOptions::leaving)
      .def_rw("divisible_tilings", &FuseOptions::divisible_tilings)
      .def_rw("weights_fit", &FuseOptions::weights_fit)
      .def_rw("stacks", &FuseOptions::stacks)
      .def_rw("tiles", &FuseOptions::tiles)
      .def_rw("improve", &FuseOptions::improve)
      .def_rw("effort", &FuseOptions::effort)
      .def_rw("max_candidates", &FuseOptions::max_candidates)
      .def_rw("dominance", &FuseOptions::dominance)
      .def_rw("decompose", &FuseOptions::decompose)
      .def_rw("repeat", &FuseOptions::repeat)
      .def_rw("dynamic", &FuseOptions::dynamic)
      .def_rw("lift", &FuseOptions::lift);
  bind_time_limit(options, 0);
}

void bind_checkpoint_options(nb::module_& module) {
  nb::class_<CheckpointOptions> options(module, "CheckpointOptions", "As `monet checkpoint` takes them.");
  options.def(nb::init<>())
      .def_rw("evaluate", &CheckpointOptions::evaluate)
      .def_rw("method", &CheckpointOptions::method)
      .def_rw("objective", &CheckpointOptions::objective)
      .def_rw("memory_budget", &CheckpointOptions::budgets)
      .def_rw("deadline", &CheckpointOptions::deadline)
      .def_rw("pareto", &CheckpointOptions::pareto)
      .def_rw("pareto_step", &CheckpointOptions::pareto_step)
      .def_rw("measure", &CheckpointOptions::measure)
      .def_rw("tensors", &CheckpointOptions::tensors)
      .def_rw("recompute", &CheckpointOptions::recompute)
      .def_rw("page", &CheckpointOptions::page)
      .def_rw("page_weights", &CheckpointOptions::page_static)
      .def_rw("reorder", &CheckpointOptions::reorder)
      .def_rw("evaluations", &CheckpointOptions::evaluations)
      .def_rw("population", &CheckpointOptions::population)
      .def_rw("generations", &CheckpointOptions::generations)
      .def_rw("crossover", &CheckpointOptions::crossover)
      .def_rw("mutation", &CheckpointOptions::mutation)
      .def_rw("seed", &CheckpointOptions::seed)
      .def_rw("seeds", &CheckpointOptions::seeds)
      .def_rw("prune", &CheckpointOptions::prune)
      .def_rw("improve", &CheckpointOptions::improve);
  bind_time_limit(options, unlimited);
}

void bind_optimize_options(nb::module_& module) {
  nb::class_<OptimizeOptions> options(module, "OptimizeOptions", "As `monet optimize` takes them.");
  options.def(nb::init<>())
      .def_rw("evaluate", &OptimizeOptions::evaluate)
      .def_rw("objective", &OptimizeOptions::objective)
      .def_rw("memory_budget", &OptimizeOptions::budgets)
      .def_rw("deadline", &OptimizeOptions::deadline)
      .def_rw("fuse", &OptimizeOptions::fuse)
      .def_rw("memory", &OptimizeOptions::decide)
      .def_rw("place", &OptimizeOptions::place)
      .def_rw("recompute", &OptimizeOptions::recompute)
      .def_rw("page", &OptimizeOptions::page)
      .def_rw("page_weights", &OptimizeOptions::page_static)
      .def_rw("reorder", &OptimizeOptions::reorder)
      .def_rw("limit", &OptimizeOptions::limit)
      .def_rw("rounds", &OptimizeOptions::rounds)
      .def_rw("evaluations", &OptimizeOptions::evaluations)
      .def_rw("population", &OptimizeOptions::population)
      .def_rw("generations", &OptimizeOptions::generations)
      .def_rw("plans", &OptimizeOptions::plans)
      .def_rw("seed", &OptimizeOptions::seed);
  bind_time_limit(options, unlimited);
}

void bind_explore_options(nb::module_& module) {
  nb::class_<ExploreOptions> options(module, "ExploreOptions", "As `monet explore` takes them.");
  options.def(nb::init<>())
      .def_rw("space", &ExploreOptions::space)
      .def_rw("network", &ExploreOptions::network)
      .def_rw("batch", &ExploreOptions::batch)
      .def_rw("method", &ExploreOptions::method)
      .def_rw("samples", &ExploreOptions::samples)
      .def_rw("population", &ExploreOptions::population)
      .def_rw("generations", &ExploreOptions::generations)
      .def_rw("seed", &ExploreOptions::seed)
      .def_rw("objectives", &ExploreOptions::objectives)
      .def_rw("store", &ExploreOptions::store)
      .def_rw("resume", &ExploreOptions::resume)
      .def_rw("cluster", &ExploreOptions::cluster)
      .def_rw("python", &ExploreOptions::python)
      .def_rw("jobs", &ExploreOptions::jobs);
  bind_time_limit(options, unlimited);
}

void bind_remat_options(nb::module_& module) {
  nb::class_<RematOptions>(module, "RematOptions", "As `monet remat` takes them.")
      .def(nb::init<>())
      .def_rw("budget_fraction", &RematOptions::budget_fraction, nb::for_setter(nb::arg("value").none()))
      .def_rw("budget_bytes", &RematOptions::budget_bytes, nb::for_setter(nb::arg("value").none()))
      .def_rw("profiles", &RematOptions::profiles)
      .def_rw("device", &RematOptions::device)
      .def_rw("fixed_bytes", &RematOptions::fixed_bytes)
      .def_rw("page_bytes", &RematOptions::page_bytes)
      .def_rw("deadline_factor", &RematOptions::deadline_factor, nb::for_setter(nb::arg("value").none()))
      .def_rw("deadline", &RematOptions::deadline, nb::for_setter(nb::arg("value").none()))
      .def_rw("free_transfers", &RematOptions::free_transfers)
      .def_rw("objective", &RematOptions::objective)
      .def_rw("method", &RematOptions::method)
      .def_rw("recompute", &RematOptions::recompute)
      .def_rw("page", &RematOptions::page)
      .def_rw("reorder", &RematOptions::reorder)
      .def_rw("prune", &RematOptions::prune)
      .def_rw("improve", &RematOptions::improve)
      .def_rw("bound", &RematOptions::bound)
      .def_rw("seed", &RematOptions::seed)
      .def_rw("jobs", &RematOptions::jobs)
      .def_rw("time_limit", &RematOptions::time_limit_s);
}

}  // namespace

void bind_search_options(nb::module_& module) {
  bind_fuse_options(module);
  bind_checkpoint_options(module);
  bind_optimize_options(module);
  bind_explore_options(module);
  bind_remat_options(module);
}

}  // namespace monet::python
