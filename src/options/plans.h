// Options of `monet checkpoint` and `monet optimize`, beside those of the step.
#pragma once

#include "options/name.h"

#include <monet/checkpoint.h>
#include <monet/optimize.h>

namespace monet {

template <class Options, class To>
void describe_budgets(To& to) {
  to.option("memory_budget", &Options::budgets,
            "bytes of packed peak: 2MiB, MEMORY=2MiB, or 80% of what is needed without one; what the memory holds "
            "by default",
            "[MEMORY=]SIZE")
      .each_once();
  to.option("deadline", &Options::deadline, "of the step: 1.5x of what it takes without, or 20ms", "TIME");
  to.option("objective", &Options::objective, "latency, energy or edp", "WHAT")
      .one_of({"latency", "energy", "edp"})
      .with_default();
}

// What may be done with tensors.
template <class Options, class To>
void describe_decisions(To& to) {
  to.off("recompute", &Options::recompute, "recompute nothing");
  to.off("page", &Options::page, "page nothing");
  to.off("page_weights", &Options::page_static, "keep weights and optimizer state in memory");
  to.off("reorder", &Options::reorder, "keep to the plan's order");
}

template <class Options, class To>
void describe_search_time(To& to) {
  to.time_limit(&Options::time_limit_s, std::numeric_limits<double>::infinity(),
                "seconds after which the best so far is the answer")
      .positive();
}

template <class To>
void describe_checkpoint_effort(To& to) {
  using Options = CheckpointOptions;
  to.title("Effort");
  to.option("evaluations", &Options::evaluations, "plans that search prices for a budget", "N")
      .within(1, 100000000)
      .with_default();
  describe_search_time<Options>(to);
  to.option("population", &Options::population, "of nsga2").within(2, 1000000).with_default();
  to.option("generations", &Options::generations, "of nsga2").within(0, 1000000).with_default();
  to.option("crossover", &Options::crossover, "share of children with two parents").within(0.0, 1.0).with_default();
  to.option("mutation", &Options::mutation, "probability that a choice changes").within(0.0, 1.0).with_default();
  to.option("seed", &Options::seed, "of random choices").with_default();
  to.off("seeds", &Options::seeds, "search: do not begin with segments");
  to.off("prune", &Options::prune, "search: do not take back what is not needed");
  to.off("improve", &Options::improve, "search: end after the first descent");
}

template <class To>
void describe_checkpoint(To& to) {
  using Options = CheckpointOptions;
  describe_budgets<Options>(to);
  to.option(
        "method", &Options::method,
        "search; nsga2, the published genetic search; exact, all plans; milp, an integer program beside the search, "
        "for small networks; chen, checkmate, capuchin, dtr: by the rules of their papers")
      .one_of({"search", "nsga2", "exact", "milp", "chen", "checkmate", "capuchin", "dtr"})
      .with_default();
  to.flag("pareto", &Options::pareto, "plans for all budgets, from all kept down to the least");
  to.option("pareto_step", &Options::pareto_step, "between budgets, of what all kept needs")
      .within(0.001, 1.0)
      .with_default();
  to.option("measure", &Options::measure, "memory for nsga2 and exact: peak, or saved bytes")
      .one_of({"peak", "saved"})
      .with_default();
  to.option("tensors", &Options::tensors, "only tensors whose names match; * and ? as in a shell", "PATTERN")
      .each_once();
  to.title("What may be done");
  describe_decisions<Options>(to);
  describe_checkpoint_effort(to);
}

template <class To>
void describe_optimize(To& to) {
  using Options = OptimizeOptions;
  describe_budgets<Options>(to);
  to.title("What may be done");
  to.off("fuse", &Options::fuse, "fuse nothing");
  to.off("memory", &Options::decide, "keep everything, in the plan's order");
  to.off("place", &Options::place, "cores as the policy chooses them");
  describe_decisions<Options>(to);
  to.option("limit", &Options::limit, "operators of a stack").within(1, 16).with_default();
  to.title("Effort");
  const auto number = [&](OptionName name, std::size_t Options::* member, const char* meaning) {
    to.option(name, member, meaning).within(1, 100000000).with_default();
  };
  number("rounds", &Options::rounds, "of memory, with a search for cores between them");
  number("evaluations", &Options::evaluations, "plans that are priced for one budget");
  number("population", &Options::population, "of the search for cores");
  number("generations", &Options::generations, "of the search for cores");
  number("plans", &Options::plans, "that are given back, at most");
  to.option("seed", &Options::seed, "of random choices").with_default();
  describe_search_time<Options>(to);
}

}  // namespace monet
