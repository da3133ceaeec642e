// One function a command: from a question to a run of the history.
#include "base/try.h"
#include "evaluate/run/evaluate_network.h"
#include "present/compare/comparison.h"
#include "serve/work.h"

#include <monet/checkpoint.h>
#include <monet/explore.h>
#include <monet/fuse.h>
#include <monet/hardware.h>
#include <monet/optimize.h>
#include <monet/report.h>

#include <algorithm>

namespace monet::serving {

namespace {

Run run_of(const Question& question) {
  return Run{.command = question.command, .title = question.title, .words = question.words};
}

Expected<Run> evaluated(const Question& question, const Watch& watch, MappingCache& cache) {
  StepRequest request = question.step;
  request.stop = watch.stop;
  request.progress = watch.progress;
  MONET_TRY(const Evaluation result, evaluate_network(question.network, request, cache));
  Run run = run_of(question);
  run.latency_s = result.latency_s;
  run.energy_pj = result.energy_pj;
  for (const MemoryResult& memory : result.memories)
    run.peak_bytes = std::max({run.peak_bytes, memory.live_peak_bytes, memory.packed_peak_bytes});
  run.result = to_json(result);
  run.plan = result.plan_yaml;
  return run;
}

Expected<Run> fused(const Question& question, const Watch& watch) {
  FuseOptions options{.step = question.step, .stop = watch.stop};
  options.objective = question.step.objective;
  MONET_TRY(const Fusion result, fuse_network(question.network, options));
  Run run = run_of(question);
  run.latency_s = result.clock_hz > 0 ? result.latency_cycles / result.clock_hz : 0;
  run.energy_pj = result.energy_pj;
  run.result = to_json(result);
  run.plan = result.plan_yaml;
  return run;
}

// Of several plans the first, which is the best in the objective.
template <class Result>
Run searched(const Question& question, const Result& result) {
  Run run = run_of(question);
  run.result = to_json(result);
  if (const auto page = report_page(result)) run.page = *page;
  if (result.plans.empty()) return run;
  const auto& plan = result.plans.front();
  run.latency_s = plan.latency_s;
  run.energy_pj = plan.energy_pj;
  run.peak_bytes = plan.peak_bytes;
  run.plan = plan.plan_yaml;
  return run;
}

template <class Options>
Options options_for(const Question& question, const Watch& watch) {
  Options options;
  options.evaluate = question.step;
  options.objective = question.step.objective;
  if (!question.memory_budget.empty()) options.budgets = {question.memory_budget};
  if (question.evaluations > 0) options.evaluations = static_cast<std::size_t>(question.evaluations);
  options.stop = watch.stop;
  options.progress = watch.progress;
  return options;
}

Expected<Run> explored(const Question& question, const ServeFolder& folder, const Watch& watch) {
  ExploreOptions options{.space = question.space, .network = question.space_network, .batch = question.batch};
  options.method = question.samples > 0 ? "nsga2" : "all";
  options.samples = static_cast<std::size_t>(question.samples);
  // Asked again, it goes on where it was stopped.
  options.store = folder.store(question.store_key);
  options.resume = true;
  options.stop = watch.stop;
  options.progress = watch.progress;
  MONET_TRY(const Exploration result, explore_space(options));
  Run run = run_of(question);
  run.result = to_json(result);
  return run;
}

}  // namespace

Expected<Run> answer(const Question& question, const ServeFolder& folder, const Watch& watch, MappingCache& cache) {
  if (question.command == "fuse") return fused(question, watch);
  if (question.command == "checkpoint") {
    MONET_TRY(const Checkpointing result,
              checkpoint_network(question.network, options_for<CheckpointOptions>(question, watch)));
    return searched(question, result);
  }
  if (question.command == "optimize") {
    auto options = options_for<OptimizeOptions>(question, watch);
    // Cycles of a machine without a clock are no seconds.
    MONET_TRY(const HardwareReport machine, describe_hardware(question.step.machine));
    if (watch.found && machine.clock_hz > 0) {
      options.found = [found = watch.found, clock = machine.clock_hz](double cycles, double pj, std::int64_t peak) {
        found({.latency_s = cycles / clock, .energy_pj = pj, .peak_bytes = peak});
      };
    }
    MONET_TRY(const Optimization result, optimize_network(question.network, options));
    return searched(question, result);
  }
  if (question.command == "explore") return explored(question, folder, watch);
  return evaluated(question, watch, cache);
}

Expected<std::string> page_of(const Question& question, const Run& run, const ServeFolder& folder,
                              MappingCache& cache) {
  if (!run.page.empty()) return run.page;
  if (question.command == "explore") return report_page(ReportOptions{.inputs = {folder.store(question.store_key)}});
  StepRequest request = question.step;
  request.trace = request.lifetimes = request.graph = true;
  if (!run.plan.empty()) {
    MONET_TRY(request.plan, plan_from(run.plan, "plan"));
  }
  MONET_TRY(const Evaluation result, evaluate_network(question.network, request, cache));
  return report_page(result);
}

Expected<std::string> evaluated_plan(const Question& question, const Run& run, MappingCache& cache) {
  if (run.command == "evaluate") return run.result;
  StepRequest request = question.step;
  if (run.plan.empty())
    return Error{.message = "this run has no plan", .place = run.title, .advice = "compare evaluations and plans"};
  MONET_TRY(request.plan, plan_from(run.plan, "plan"));
  request.compare = request.advise = false;
  MONET_TRY(const Evaluation result, evaluate_network(question.network, request, cache));
  return to_json(result);
}

Expected<std::string> compared(const std::string& a, const std::string& a_name, const std::string& b,
                               const std::string& b_name) {
  MONET_TRY(const ResultFile first, result_from(a, a_name));
  MONET_TRY(const ResultFile second, result_from(b, b_name));
  MONET_TRY(const Comparison comparison, compare_files(first, second));
  return to_json(comparison);
}

}  // namespace monet::serving
