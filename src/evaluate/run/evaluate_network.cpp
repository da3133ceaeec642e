#include "evaluate/run/evaluate_network.h"

#include "base/stopwatch.h"
#include "base/try.h"
#include "evaluate/account/complete_plan.h"
#include "evaluate/check/check.h"
#include "evaluate/check/kernels.h"
#include "evaluate/evaluate.h"
#include "evaluate/kernels/kernel_result.h"
#include "evaluate/kernels/lowering_choice.h"
#include "evaluate/open/known_rows.h"
#include "evaluate/open/numbers.h"
#include "evaluate/open/opened_step.h"
#include "evaluate/plan/hash.h"
#include "evaluate/plan/part.h"
#include "evaluate/plan/rewritten.h"
#include "evaluate/run/fit.h"
#include "evaluate/run/network_unit.h"
#include "evaluate/run/parallel_run.h"
#include "evaluate/run/pipeline_run.h"
#include "evaluate/run/result.h"
#include "evaluate/run/room.h"
#include "evaluate/run/step_graph.h"
#include "hardware/hardware.h"

#include <monet/evaluate.h>
#include <monet/plan.h>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>

namespace monet {

namespace {

class StepRun {
 public:
  StepRun(const Hardware& hardware, const StepRequest& options, MappingCache& cache, MappingStore* store = nullptr,
          const ParallelRun* parallel = nullptr)
      : hardware_(hardware), options_(options), cache_(cache), store_(store), parallel_(parallel) {}

  // The graph by the plan; what does not follow from the schedule is left alone.
  Expected<Evaluation> run(const Graph& original, const Plan& plan, Evaluation result) {
    MONET_TRY(RewrittenStep rewritten, rewritten_step(plan, original, hardware_));
    if (!plan.home.empty()) rewritten.graph = with_known_rows(std::move(rewritten.graph));
    const Graph& graph = rewritten.graph;
    if (rewritten.recomputes) result.saved_bytes = saved_bytes_of(graph);
    MONET_TRY(EvaluatorOptions how, evaluator_options(options_, store_));
    if (parallel_ != nullptr) how.network = parallel_->network;
    Plan settled = plan;
    MONET_TRY(how.home, home_choice(hardware_, plan.home, plan.room_bytes));
    if (how.home.memory.valid() && plan.room_bytes == 0) {
      MONET_TRY(settled.room_bytes, room_with_addresses(graph, hardware_, cache_, how, plan, rewritten.paged));
      how.home.room_bytes = settled.room_bytes;
    }
    const bool unit = how.network != nullptr && !runs_kernels(hardware_, options_.lowering);
    if (unit) {
      how.cost.custom = collective_costs(graph, *how.network, hardware_.clock_hz, how.cost.extract.precision,
                                         std::move(how.cost.custom));
    }
    Evaluator evaluator(graph, hardware_, cache_, how);
    MONET_TRY(PlanRequest request, evaluator.bind(plan));
    request.paged = std::move(rewritten.paged);
    MONET_TRY(const Evaluated evaluated, evaluator.evaluate(request));
    result.home = plan.home;
    result.map_s += evaluated.map_s;
    result.schedule_s += evaluated.schedule_s;
    for (const std::string& note : evaluator.notes()) {
      if (std::ranges::find(result.notes, note) == result.notes.end()) result.notes.push_back(note);
    }
    result.filled = evaluated.assignment.filled;
    const ScheduledStep step{graph, hardware_, evaluated.assignment, evaluated.tiles, evaluated.schedule};
    // A caching allocator has addresses of its own: no other ones are made up.
    const bool pack = options_.pack && !evaluated.kernels;
    PackedStays packed;
    auto start = std::chrono::steady_clock::now();
    if (pack) {
      MONET_TRY(packed, pack_stays(step, evaluator.machine(), {}, options_.stop));
    }
    result.pack_s += seconds_since(start);
    fill(result, step, evaluator.operator_bounds(),
         {.trace = options_.trace, .lifetimes = options_.lifetimes, .packed = pack ? &packed : nullptr});
    if (evaluated.kernels) fill_kernels(result, *evaluated.kernels, hardware_);
    if (parallel_ != nullptr) {
      std::vector<Exchange> exchanges;
      if (evaluated.kernels) exchanges = evaluated.kernels->times.exchanges;
      if (unit) exchanges = exchanges_of(graph, hardware_, evaluated, *how.network);
      result.parallel = parallel_result(*parallel_, exchanges, result);
    }
    if (options_.graph) result.graph = step_graph(step, rewritten);
    const std::vector<MemoryId> too_small = judge_fit(result, hardware_, evaluator.machine());
    if (options_.check) MONET_RETURN_IF_ERROR(check(step, evaluated, evaluator, too_small, result));
    if (!options_.zigzag) MONET_RETURN_IF_ERROR(check_bounds(result));
    completed_ = complete_plan_of(step, settled, original);
    if (result.plan_yaml.empty()) result.plan_yaml = to_yaml(completed_);
    return result;
  }

  // What the last one was run by, all of it.
  const Plan& completed() const { return completed_; }

 private:
  // By another tool's rules an operator may cost less than it can.
  static Status check_bounds(const Evaluation& result) {
    constexpr double rounding = 1 + 1e-6;
    const bool late = result.bound_cycles > result.latency_cycles * rounding;
    if (!late && result.bound_pj <= result.energy_pj * rounding) return Done{};
    return Error{.kind = ErrorKind::defect,
                 .message = late ? fmt::format("{} cycles are below their bound of {} ({})", result.latency_cycles,
                                               result.bound_cycles, result.bound_by)
                                 : fmt::format("{} pJ are below their bound of {}", result.energy_pj, result.bound_pj),
                 .place = "bound",
                 .advice = "please report it with the network, the hardware and the plan"};
  }

  CheckReport report_of(const ScheduledStep& step, const Evaluated& evaluated, Evaluator& evaluator,
                        const std::vector<MemoryId>& too_small) const {
    if (evaluated.kernels) return check_kernels(step.graph, step.hardware, *evaluated.kernels);
    return check_schedule(
        step.graph, step.hardware, step.assignment, step.tiles, step.schedule,
        {.streams = evaluator.counts_streams(), .element_bits = evaluator.element_bits(), .too_small = too_small});
  }

  Status check(const ScheduledStep& step, const Evaluated& evaluated, Evaluator& evaluator,
               const std::vector<MemoryId>& too_small, Evaluation& result) const {
    const auto start = std::chrono::steady_clock::now();
    const CheckReport report = report_of(step, evaluated, evaluator, too_small);
    result.check_s += seconds_since(start);
    result.checked = report.looked_at;
    if (report.count == 0) return Done{};
    return Error{.kind = ErrorKind::defect,
                 .message = fmt::format("the schedule breaks {} rules; the first: {}", report.count,
                                        report.violations.front().what),
                 .place = "checker",
                 .advice = "please report it; --no-check shows the result all the same"};
  }

  const Hardware& hardware_;
  const StepRequest& options_;
  MappingCache& cache_;
  MappingStore* store_;
  const ParallelRun* parallel_;
  Plan completed_;
};

void compare_with_inference(const Network& network, const StepRequest& options, const Hardware& hardware,
                            MappingCache& cache, Evaluation& result) {
  StepRequest forward = options;
  forward.check = forward.trace = forward.lifetimes = forward.graph = forward.pack = false;
  auto opened = open_step(network, forward, true);
  if (!opened) return;
  const auto opened_step = fitted_to(*std::move(opened), hardware, forward);
  if (!opened_step) return;
  const auto inference = StepRun(hardware, forward, cache).run(opened_step->graph, Plan{}, {});
  if (!inference) return;
  result.inference_cycles = inference->latency_cycles;
  result.inference_pj = inference->energy_pj;
  for (const MemoryResult& memory : inference->memories) {
    result.inference_peak_bytes = std::max(result.inference_peak_bytes, memory.live_peak_bytes);
  }
}

}  // namespace

Expected<Evaluation> evaluate(const Step& step, const Machine& machine, const Plan& plan,
                              const EvaluateOptions& options) {
  StepRequest request{options};
  request.train = step.options;
  request.inference = step.inference;
  request.machine = machine;
  request.plan = plan;
  return evaluate_network(step.network, request);
}

Expected<Evaluation> evaluate_network(const Network& network, const StepRequest& request) {
  MappingCache cache;
  return evaluate_network(network, request, cache);
}

Expected<Evaluation> evaluate_network(const Network& network, const StepRequest& given, MappingCache& cache) {
  const auto start = std::chrono::steady_clock::now();
  StepRequest options = given;
  MONET_TRY(options.custom_costs, custom_costs_of(given));  // once for all evaluations below
  options.custom_file.clear();
  Evaluation result{.model = network.name(), .objective = options.objective, .inference = options.inference};
  MONET_TRY(const std::shared_ptr<const Hardware> machine, options.machine.hardware());
  Hardware one_of_many;  // with a unit for collectives
  result.hardware = machine->name;
  for (const auto& [name, value] : options.machine.parameters())
    result.hardware_parameters += fmt::format("{}{}={}", result.hardware_parameters.empty() ? "" : ", ", name, value);
  MONET_TRY(const NumberChoice numbers, choose_numbers(network, *machine, options.train, options.zigzag));
  result.recipe = numbers.recipe;
  result.recipe_from = name_of(numbers.from);
  options.train.precision = numbers.precision();
  if (!options.inference) result.optimizer = options.train.optimizer;
  result.clock_hz = machine->clock_hz;
  MONET_TRY(Plan plan, plan_of(options));
  MONET_RETURN_IF_ERROR(settle_lowering(*machine, options, plan));
  MONET_TRY(std::optional<ParallelRun> parallel, parallel_run(*machine, options, plan));
  result.micro_batches = options.inference ? 1 : options.train.accumulate;
  result.reach = reach_of(*machine, options.lowering);
  MONET_TRY(OpenedStep opened_step, open_step(network, options, options.inference));
  MONET_TRY(opened_step, fitted_to(std::move(opened_step), *machine, options, plan));
  if (parallel && parallel->pipeline.chips > 1) {
    result.expanded = plan.expanded = opened_step.expanded;
    result.warnings = opened_step.warnings;
    const auto evaluate_part = [&](const Graph& graph, const Plan& part_plan, Evaluation part) {
      return StepRun(*machine, options, cache, nullptr, &*parallel).run(graph, part_plan, std::move(part));
    };
    MONET_TRY(result, evaluate_pipeline(std::move(opened_step), options, *machine, plan, *parallel, std::move(result),
                                        evaluate_part));
    set_rates(*result.parallel, *parallel, result);
    result.wall_s = seconds_since(start);
    return result;
  }
  if (parallel) {
    MONET_TRY(opened_step, split_over_chips(std::move(opened_step), *parallel));
  }
  const bool unit = parallel && parallel->network && !runs_kernels(*machine, options.lowering);
  if (unit) one_of_many = with_network_unit(*machine);
  const Hardware& hardware = unit ? one_of_many : *machine;
  result.expanded = plan.expanded = opened_step.expanded;
  result.warnings = opened_step.warnings;
  result.notes = opened_step.notes;
  MONET_TRY(std::vector<std::string> warnings, check_hashes(plan, opened_step.graph, hardware, options.force));
  std::ranges::move(warnings, std::back_inserter(result.warnings));
  result.parameters = opened_step.parameters;
  result.saved_bytes = opened_step.saved_bytes;
  result.batch = opened_step.batch;
  if (options.zigzag && !given.train.precision.empty()) {
    result.notes.emplace_back("--precision has no meaning with --zigzag and is left out");
  }
  std::optional<MappingStore> store;
  if (!options.cache_file.empty()) {
    MONET_TRY(store, MappingStore::open(options.cache_file));
    if (store->ignored_lines() > 0) {
      result.notes.push_back(
          fmt::format("{}: {} lines are no mappings and were ignored", options.cache_file, store->ignored_lines()));
    }
  }
  StepRun evaluating(hardware, options, cache, store ? &*store : nullptr, parallel ? &*parallel : nullptr);
  MONET_TRY(result, evaluating.run(opened_step.graph, plan, std::move(result)));
  if (result.micro_batches > 1) {
    const Graph without_update = phases_up_to(opened_step.graph, Phase::backward);
    // As the last one runs, so that the plan that is written says it of all.
    const Plan of_part = plan_for_part(evaluating.completed(), opened_step.graph, without_update);
    MONET_TRY(const Evaluation part, evaluating.run(without_update, of_part, Evaluation{.model = network.name()}));
    const std::int64_t more = result.micro_batches - 1;
    if (parallel) result.parallel = repeated(*part.parallel, more, *result.parallel);
    result = repeat(part, more, std::move(result));
  }
  if (parallel) set_rates(*result.parallel, *parallel, result);
  if (store) MONET_RETURN_IF_ERROR(store->save());
  if (!result.fits && options.advise) price_options(network, options, hardware, result);
  if (result.fits && !parallel && plan.home.empty() && result.tiles <= options.suggest_up_to)
    price_suggestions(network, given, cache, result);
  if (options.compare && !options.inference && !parallel && plan.home.empty())
    compare_with_inference(network, options, hardware, cache, result);
  result.wall_s = seconds_since(start);
  return result;
}

}  // namespace monet
