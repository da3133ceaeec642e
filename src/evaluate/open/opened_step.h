// What is evaluated and what is searched over: a network as a step, by the options of the commands.
#pragma once

#include "evaluate/evaluate.h"
#include "graph/graph.h"
#include "graph/network_graph.h"
#include "mapping/cache.h"

#include <monet/evaluate.h>
#include <monet/plan.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace monet {

struct OpenedStep {
  Graph graph;
  std::int64_t batch = 1;
  std::int64_t parameters = 0;
  std::int64_t saved_bytes = 0;
  std::optional<ElementType> everything;  // width of all tensors, by fitted_to(); none: as they are
  std::vector<std::string> expanded;      // operators that no core runs whole: they run in their parts
  std::vector<std::string> warnings, notes;
};

// "latency", "energy", "edp": what the best mapping makes small.
Expected<Objective> objective_named(const std::string& name);

// A file or a built-in network; with `training` as a training step, if it is none yet; in the precision asked for.
Expected<NetworkGraph> open_network_as_asked(const Network& source, const TrainOptions& options, bool training);
// The same as it runs on a machine: composite operators that no core can run are in their parts, and `expanded` names
// them. What no core can run all the same stays.
Expected<NetworkGraph> open_network_for(const Network& source, const TrainOptions& options, bool training,
                                        const Hardware& hardware, std::vector<std::string>& expanded);

// `inference`: the forward part alone. A recipe of `everything` is left to fitted_to().
Expected<OpenedStep> open_step(const Network& source, const StepRequest& options, bool inference);

// How the numbers of its operators are costed before fitted_to().
Expected<ExtractOptions> extract_of(const OpenedStep& opened_step, const StepRequest& options);

// As it runs on a machine, in the numbers of the recipe: composite operators that no core can run in their parts, and
// those that the plan has so. Fails, with all of them, where operators are left that no core can run, or none in these
// numbers.
Expected<OpenedStep> fitted_to(OpenedStep opened_step, const Hardware& hardware, const StepRequest& options,
                               const Plan& plan = {});

// Of tensors that the forward part makes and later parts read.
std::int64_t saved_bytes_of(const Graph& step);

// The part of a step that belongs to the first phases.
Graph phases_up_to(const Graph& graph, Phase last);

// The plan with what the options say beside it.
Expected<Plan> plan_of(const StepRequest& options);

// The costs that the user gives, by a function or a file, each asked for once by all who share the result; empty: none.
Expected<CustomCosts> custom_costs_of(const StepRequest& options);

// `store` may be null. Refers to `options`.
Expected<EvaluatorOptions> evaluator_options(const StepRequest& options, MappingStore* store = nullptr);

}  // namespace monet
