#include "evaluate/run/parallel_run.h"

#include "base/try.h"
#include "evaluate/kernels/lowering_choice.h"
#include "evaluate/stages/chip_step.h"
#include "training/recompute.h"

#include <fmt/format.h>

#include <algorithm>

namespace monet {

namespace {

Error wrong_parallel(std::string message, std::string place, std::string advice) {
  return {.message = std::move(message), .place = std::move(place), .advice = std::move(advice)};
}

Expected<parallel::ParallelOptions> options_of_plan(const PlannedParallel& planned) {
  parallel::ParallelOptions options;
  MONET_TRY(options, parallel::parse_parallel(""));
  for (const auto& [name, size] : planned.mesh) {
    if (name == "pp") continue;
    if (!parallel::set_size(options, name, size)) {
      return wrong_parallel(fmt::format("a mesh has no axis '{}'", name), planned.place.text(),
                            "axes are dp, pp, ep, cp and tp");
    }
  }
  options.dp_said = true;
  options.zero = static_cast<int>(planned.zero);
  options.sequence = planned.sequence;
  options.overlap = planned.overlap;
  return options;
}

PlannedParallel planned(const parallel::ParallelOptions& options, const PipelineOptions& pipeline,
                        std::int64_t micro_batch) {
  PlannedParallel result;
  result.stages = pipeline.stages;
  if (pipeline.recompute != training::RecomputeChoice::none) result.recompute = name_of(pipeline.recompute);
  for (const MeshAxis& axis : options.mesh.axes) result.mesh.emplace_back(axis.name, axis.size);
  result.zero = options.zero;
  result.sequence = options.sequence;
  result.overlap = options.overlap;
  result.micro_batch = micro_batch;
  return result;
}

// The batch of all chips as micro-batches of all chips of dp.
Status set_batches(const parallel::ParallelOptions& options, StepRequest& request, ParallelRun& run) {
  const std::int64_t dp = options.batch_parts();
  const std::string axes = options.size("ep") > 1 ? "dp and ep" : "dp";
  if (request.train.accumulate > 1) {
    return wrong_parallel("micro-batches of many chips follow from the batch and --micro-batch", "--accumulate",
                          "say --micro-batch in its place");
  }
  if (!request.train.batch) {
    if (run.micro_batch == 0) return Done{};
    return wrong_parallel("micro-batches need the batch of all chips that they are parts of", "--micro-batch",
                          "say --batch too");
  }
  run.batch = *request.train.batch;
  const bool whole = run.batch % dp == 0;
  const std::int64_t each = whole ? run.batch / dp : 0;
  if (!whole || each == 0) {
    return wrong_parallel(fmt::format("a batch of {} cannot be divided over the {} chips of {}", run.batch, dp, axes),
                          "--batch", fmt::format("choose a multiple of {}: it is the batch of all chips", dp));
  }
  if (run.micro_batch == 0) run.micro_batch = each;
  if (each % run.micro_batch != 0) {
    return wrong_parallel(fmt::format("{} samples of a chip are no micro-batches of {}", each, run.micro_batch),
                          "--micro-batch", fmt::format("choose a divisor of --batch over the chips of {}", axes));
  }
  request.train.accumulate = each / run.micro_batch;
  // Of a pipeline one chip's part of a micro-batch is opened, the same on all of dp.
  request.train.batch = run.micro_batch * (run.pipeline.chips > 1 ? dp / run.options.size("dp") : dp);
  return Done{};
}

}  // namespace

Expected<std::optional<ParallelRun>> parallel_run(const Hardware& hardware, StepRequest& request, Plan& plan) {
  if (request.parallel.empty() && request.chips == 0 && !plan.parallel) {
    if (request.micro_batch == 0) return std::optional<ParallelRun>();
    return wrong_parallel("micro-batches of this size are parts of a step of many chips", "--micro-batch",
                          "say --chips or --parallel too, or --accumulate in its place");
  }
  ParallelRun run;
  run.micro_batch = request.micro_batch;
  if (request.parallel.empty() && plan.parallel) {
    MONET_TRY(run.options, options_of_plan(*plan.parallel));
    MONET_TRY(run.pipeline, pipeline_of(*plan.parallel));
    if (run.micro_batch == 0) run.micro_batch = plan.parallel->micro_batch;
  } else {
    std::string words = request.parallel;
    MONET_TRY(run.pipeline, take_pipeline_words(words));
    MONET_TRY(run.options, parallel::parse_parallel(words));
  }
  if (!run.options.fills_unit.empty()) {
    const std::int64_t unit = hardware.fabric ? hardware.fabric->levels.front().chips : any_chips;
    if (unit == any_chips) {
      return wrong_parallel(fmt::format("{} has no unit of so many chips that {} could be as many", hardware.name,
                                        run.options.fills_unit),
                            "--parallel", fmt::format("say it, as {}=4", run.options.fills_unit));
    }
    run.options = parallel::filled(std::move(run.options), unit, request.chips);
  }
  if (run.pipeline.said) add_pipeline_axis(run.options, run.pipeline.chips);
  if (request.chips > 0) {
    MONET_TRY(run.options, parallel::with_all_chips(std::move(run.options), request.chips));
  }
  MONET_RETURN_IF_ERROR(put_in_order(run.options, run.pipeline.order));
  if (request.inference && run.pipeline.chips > 1)
    return wrong_parallel("the forward part alone is not cut into stages", "--parallel", "leave out pp");
  if (request.inference && (run.options.zero > 0 || run.micro_batch > 0)) {
    return wrong_parallel("the forward part alone has no optimizer and no micro-batches that add up", "--parallel",
                          "leave out zero, --micro-batch, and recipes that say them");
  }
  plan.parallel = planned(run.options, run.pipeline, run.micro_batch);
  MONET_RETURN_IF_ERROR(set_batches(run.options, request, run));
  if (run.options.mesh.chips() == 1) return std::optional(std::move(run));
  if (!run.options.overlap && !runs_kernels(hardware, request.lowering)) {
    return wrong_parallel(fmt::format("what runs beside a collective follows from the schedule of {}", hardware.name),
                          "--parallel", "leave out overlap=off, which is for graphics processors");
  }
  MONET_TRY(ChipNetwork network, network_of(hardware, run.options.mesh, run.options.overlap));
  run.network = std::make_shared<const ChipNetwork>(std::move(network));
  return std::optional(std::move(run));
}

Expected<OpenedStep> split_over_chips(OpenedStep whole, ParallelRun& run) {
  run.model_macs = run.hardware_macs = macs_of(whole.graph);
  run.tokens = tokens_in(whole.graph);
  if (run.batch == 0) {
    run.batch = whole.batch;
    run.micro_batch = std::max<std::int64_t>(1, whole.batch / run.options.batch_parts());
  }
  whole.batch = run.batch;
  if (run.pipeline.recompute != training::RecomputeChoice::none) {
    MONET_TRY(training::Recomputed rewritten,
              training::recompute(whole.graph, training::recomputed_by(whole.graph, run.pipeline.recompute)));
    whole.graph = std::move(rewritten.graph);
    run.hardware_macs = macs_of(whole.graph);
    whole.saved_bytes = saved_bytes_of(whole.graph);
  }
  if (run.network == nullptr) return whole;
  MONET_TRY(parallel::ParallelStep split, parallel::parallel_step(std::move(whole.graph), run.options));
  whole.graph = std::move(split.graph);
  whole.saved_bytes = saved_bytes_of(whole.graph);
  std::ranges::move(split.notes, std::back_inserter(whole.notes));
  return whole;
}

ParallelResult parallel_result(const ParallelRun& run, const std::vector<Exchange>& exchanges,
                               const Evaluation& evaluation) {
  ParallelResult result{.recipe = parallel::to_text(run.options) + to_text(run.pipeline),
                        .chips = run.options.mesh.chips(),
                        .micro_batch = run.micro_batch,
                        .tokens = run.tokens};
  for (const MeshAxis& axis : run.options.mesh.axes) result.axes.push_back({.axis = axis.name, .chips = axis.size});
  result.energy_pj = evaluation.energy_pj * static_cast<double>(result.chips);
  for (const Exchange& exchange : exchanges) {
    auto found = std::ranges::find(result.axes, exchange.over, &AxisResult::axis);
    if (found == result.axes.end()) {
      result.axes.push_back({.axis = exchange.over, .chips = exchange.chips});
      found = std::prev(result.axes.end());
    }
    AxisResult& axis = *found;
    ++axis.collectives;
    for (double bytes : exchange.price.bytes) axis.sent_bytes += bytes;
    axis.communication_s += exchange.price.seconds;
    axis.exposed_s += exchange.exposed_us * 1e-6;
  }
  return result;
}

ParallelResult repeated(const ParallelResult& part, std::int64_t times, ParallelResult last) {
  const auto more = static_cast<double>(times);
  for (const AxisResult& each : part.axes) {
    auto found = std::ranges::find(last.axes, each.axis, &AxisResult::axis);
    if (found == last.axes.end()) {
      last.axes.push_back({.axis = each.axis, .chips = each.chips});
      found = std::prev(last.axes.end());
    }
    found->collectives += times * each.collectives;
    found->sent_bytes += more * each.sent_bytes;
    found->communication_s += more * each.communication_s;
    found->exposed_s += more * each.exposed_s;
  }
  last.energy_pj += more * part.energy_pj;
  return last;
}

void set_rates(ParallelResult& result, const ParallelRun& run, const Evaluation& evaluation) {
  result.model_macs = run.model_macs * static_cast<double>(evaluation.micro_batches);
  if (evaluation.latency_s <= 0) return;
  result.samples_per_s = static_cast<double>(run.batch) / evaluation.latency_s;
  result.tokens_per_s = result.samples_per_s * static_cast<double>(run.tokens);
  const double peak = evaluation.machine.peak_macs_per_cycle * evaluation.clock_hz * static_cast<double>(result.chips);
  if (peak <= 0) return;
  result.mfu = result.model_macs / (peak * evaluation.latency_s);
  result.hfu = result.mfu * (run.model_macs > 0 ? run.hardware_macs / run.model_macs : 1);
}

}  // namespace monet
