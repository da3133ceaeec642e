#include "evaluate/open/opened_step.h"

#include "base/try.h"
#include "evaluate/cost/custom_cost.h"
#include "evaluate/kernels/lowering_choice.h"
#include "evaluate/open/numbers.h"
#include "evaluate/open/runnable.h"
#include "networks/open.h"
#include "training/options.h"
#include "training/prepare.h"
#include "training/recompute.h"
#include "training/step.h"

#include <fmt/format.h>

#include <algorithm>

namespace monet {

namespace {

template <class Choice>
Expected<Choice> choice(const char* option, const std::string& name, std::initializer_list<Choice> choices) {
  std::vector<std::string> names;
  for (Choice each : choices) {
    if (name_of(each) == name) return each;
    names.emplace_back(name_of(each));
  }
  return Error{.message = fmt::format("there is no \"{}\"", name),
               .place = option,
               .advice = fmt::format("{}", fmt::join(names, ", "))};
}

// Of the first input: what a batch that is not given comes to.
std::int64_t leading_dimension(const Graph& graph) {
  if (graph.inputs.empty() || graph[graph.inputs.front()].type.shape.empty()) return 1;
  return graph[graph.inputs.front()].type.shape.front();
}

}  // namespace

Expected<Objective> objective_named(const std::string& name) {
  if (name == "latency") return Objective::latency;
  if (name == "energy") return Objective::energy;
  if (name == "edp") return Objective::edp;
  return Error{.message = fmt::format("there is no objective \"{}\"", name),
               .place = "--objective",
               .advice = "latency, energy or edp"};
}

namespace {

Expected<NetworkGraph> open_as(const Network& source, const TrainOptions& options,
                               const training::StepOptions& step_options, bool training) {
  MONET_TRY(const std::shared_ptr<const NetworkGraph> read, source.graph(read_options(options)));
  NetworkGraph network = *read;
  if (training && !network.is_training_step) {
    MONET_TRY(training::TrainingStep step, training::make_training_step(std::move(network), step_options));
    network = NetworkGraph{.graph = std::move(step.graph), .is_training_step = true, .warnings = {}, .notes = {}};
    network.warnings = std::move(step.warnings);
    network.notes = std::move(step.notes);
  } else if (const auto& recipe = step_options.recipe) {
    network.graph = training::with_values_of(*recipe, std::move(network.graph));
    if (recipe->everything) {
      network.graph = training::all_in(*recipe->everything, std::move(network.graph));
    } else if (recipe->quantizes()) {
      MONET_TRY(training::QuantizedGraph after, training::quantized(std::move(network.graph), *recipe));
      network.graph = std::move(after.graph);
      std::ranges::move(after.notes, std::back_inserter(network.notes));
    }
  }
  return network;
}

struct NumbersAsked {
  std::string precision, products;
  std::optional<ElementType> everything;  // the width of all tensors

  Expected<ExtractOptions> extract() const {
    MONET_TRY(ExtractOptions extract, extract_options(precision, products));
    if (everything) extract.precision = name_of(*everything);
    return extract;
  }
};

// Composite operators that no core can run, and those that are named, in their parts; only then all tensors at one
// width, if that is asked for.
Expected<ExpandedGraph> as_it_runs(Graph graph, const Hardware& hardware, const NumbersAsked& numbers,
                                   const std::vector<std::string>& named) {
  MONET_TRY(const ExtractOptions extract, numbers.extract());
  MONET_TRY(ExpandedGraph parts, expanded_for(std::move(graph), hardware, extract, named));
  if (numbers.everything) parts.graph = training::all_in(*numbers.everything, std::move(parts.graph));
  return parts;
}

}  // namespace

Expected<NetworkGraph> open_network_as_asked(const Network& source, const TrainOptions& options, bool training) {
  MONET_TRY(const training::StepOptions step_options, training::step_options(options));
  return open_as(source, options, step_options, training);
}

Expected<NetworkGraph> open_network_for(const Network& source, const TrainOptions& options, bool training,
                                        const Hardware& hardware, std::vector<std::string>& expanded) {
  MONET_TRY(training::StepOptions step_options, training::step_options(options));
  // Operators are taken apart before their tensors are counted at another width.
  std::optional<ElementType> everything;
  if (step_options.recipe) everything = step_options.recipe->everything;
  if (everything) step_options.recipe.reset();
  MONET_TRY(NetworkGraph network, open_as(source, options, step_options, training));
  MONET_TRY(ExpandedGraph parts,
            as_it_runs(std::move(network.graph), hardware, {options.precision, {}, everything}, {}));
  network.graph = std::move(parts.graph);
  std::ranges::move(parts.notes, std::back_inserter(network.notes));
  expanded = std::move(parts.names);
  return network;
}

Expected<Plan> plan_of(const StepRequest& options) {
  Plan plan = options.plan;
  if (!options.order.empty()) {
    MONET_TRY(plan.order, choice("--order", options.order,
                                 {PlanOrder::critical_path, PlanOrder::graph, PlanOrder::listed, PlanOrder::frugal}));
  }
  if (!options.transfers.empty()) {
    MONET_TRY(plan.transfers, choice("--transfers", options.transfers, {PlanTransfers::direct, PlanTransfers::memory}));
  }
  if (!options.home.empty() && options.home != plan.home) {
    plan.home = options.home;
    plan.room_bytes = 0;
  }
  for (const std::string& name : options.recompute) {
    plan.tensors.push_back({.name = name, .retention = Retention::recompute, .memory = {}, .place = {}});
  }
  for (const std::string& name : options.keep) {
    plan.tensors.push_back({.name = name, .retention = Retention::keep, .memory = {}, .place = {}});
  }
  for (const auto& [name, memory] : options.page) {
    plan.tensors.push_back({.name = name, .retention = Retention::page, .memory = memory, .place = {}});
  }
  return plan;
}

Graph phases_up_to(const Graph& graph, Phase last) {
  Graph part = graph;
  std::vector<Node> nodes;
  for (const Node& node : graph.nodes()) {
    if (node.phase <= last) nodes.push_back(node);
  }
  part.set_nodes(std::move(nodes));
  std::erase_if(part.outputs, [&](TensorId id) { return graph[id].producer.valid() && !part[id].producer.valid(); });
  for (std::size_t i = 0; i < part.tensors().size(); ++i) {
    if (graph.tensors()[i].producer.valid() && !part.tensors()[i].producer.valid()) part[TensorId(i)].updates = {};
  }
  return part;
}

std::int64_t saved_bytes_of(const Graph& step) {
  std::int64_t sum = 0;
  for (const training::SavedCandidate& saved : training::saved_candidates(step)) sum += saved.bytes;
  return sum;
}

Expected<OpenedStep> open_step(const Network& source, const StepRequest& options, bool inference) {
  OpenedStep opened_step;
  MONET_TRY(training::StepOptions step_options, training::step_options(options.train));
  // Operators are taken apart before their tensors are counted at another width.
  if (step_options.recipe) opened_step.everything = step_options.recipe->everything;
  if (opened_step.everything) step_options.recipe.reset();
  MONET_TRY(NetworkGraph network, open_as(source, options.train, step_options, !inference));
  opened_step.warnings = network.warnings;
  opened_step.notes = network.notes;
  opened_step.graph = inference ? phases_up_to(network.graph, Phase::forward) : std::move(network.graph);
  opened_step.batch = options.train.batch.value_or(leading_dimension(opened_step.graph));
  for (const Tensor& tensor : opened_step.graph.tensors()) {
    if (tensor.parameter) opened_step.parameters += element_count(tensor.type.shape);
  }
  if (!inference) opened_step.saved_bytes = saved_bytes_of(opened_step.graph);
  return opened_step;
}

Expected<ExtractOptions> extract_of(const OpenedStep& opened_step, const StepRequest& options) {
  return NumbersAsked{options.train.precision, options.products, opened_step.everything}.extract();
}

namespace {

// Kernels run whole operators: nothing is taken apart.
Expected<OpenedStep> fitted_to_kernels(OpenedStep opened_step, const Hardware& hardware, const StepRequest& options) {
  MONET_TRY(const ExtractOptions extract, extract_options(options.train.precision, options.products));
  const std::string recipe = options.train.precision.empty() ? "the network" : options.train.precision;
  const std::string everything = opened_step.everything ? std::string(name_of(*opened_step.everything)) : "";
  MONET_RETURN_IF_ERROR(
      check_kernel_numbers(opened_step.graph, hardware, recipe, everything.empty() ? extract.products : everything));
  return opened_step;
}

}  // namespace

Expected<OpenedStep> fitted_to(OpenedStep opened_step, const Hardware& hardware, const StepRequest& options,
                               const Plan& plan) {
  MONET_TRY(const std::string lowering, lowering_of(hardware, options));
  if (lowering != nests_lowering) return fitted_to_kernels(std::move(opened_step), hardware, options);
  MONET_TRY(ExpandedGraph expanded,
            as_it_runs(std::move(opened_step.graph), hardware,
                       {options.train.precision, options.products, opened_step.everything}, plan.expanded));
  opened_step.graph = std::move(expanded.graph);
  if (!options.inference) opened_step.saved_bytes = saved_bytes_of(opened_step.graph);
  MONET_TRY(const ExtractOptions extract, extract_options(options.train.precision, options.products));
  const std::string recipe = options.train.precision.empty() ? "the network" : options.train.precision;
  if (!options.zigzag) MONET_RETURN_IF_ERROR(check_numbers(opened_step.graph, hardware, extract, recipe));
  opened_step.expanded = std::move(expanded.names);
  std::ranges::move(expanded.notes, std::back_inserter(opened_step.notes));
  const std::vector<Unrunnable> left = unrunnable_operators(opened_step.graph, hardware, extract);
  if (!left.empty()) return unrunnable_error(hardware, left);
  return opened_step;
}

Expected<CustomCosts> custom_costs_of(const StepRequest& options) {
  if (options.custom_file.empty()) return asked_once(options.custom_costs);
  if (options.custom_costs) {
    return Error{.message = "costs of operators are given both by a file and by a function",
                 .place = options.custom_file,
                 .advice = "give one of them"};
  }
  MONET_TRY(CustomCosts costs, read_custom_costs(options.custom_file));
  return asked_once(std::move(costs));
}

Expected<EvaluatorOptions> evaluator_options(const StepRequest& options, MappingStore* store) {
  EvaluatorOptions how;
  MONET_TRY(how.cost.search.objective, objective_named(options.objective));
  how.cost.search.factors = static_cast<std::size_t>(options.factors);
  MONET_TRY(how.cost.extract, extract_options(options.train.precision, options.products));
  how.cost.store = store;
  MONET_TRY(how.cost.custom, custom_costs_of(options));
  how.stop = options.stop;
  how.lowering = options.lowering;
  how.off_chip = options.off_chip || options.zigzag;
  how.cost.zigzag = options.zigzag;
  how.jobs = static_cast<std::size_t>(options.jobs);
  if (options.progress) {
    how.progress = [&options](std::size_t done, std::size_t all) { options.progress("mapped", done, all); };
  }
  return how;
}

}  // namespace monet
