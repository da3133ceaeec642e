#include "evaluate/run/pipeline_run.h"

#include "base/quantities.h"
#include "base/try.h"
#include "evaluate/open/opened_step.h"
#include "evaluate/plan/hash.h"
#include "evaluate/run/result.h"
#include "evaluate/stages/chip_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

namespace monet {

namespace {

constexpr std::size_t most_events = 20000;  // of a picture

// What the chips of some stages do.
Graph part_of(const ChipStep& chip, const std::vector<NodePart>& parts, const std::vector<bool>& wanted, Phase last) {
  Graph part = chip.graph;
  std::vector<Node> nodes;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto block = static_cast<std::size_t>(parts[i].place + 1);
    if (wanted[block] && part.nodes()[i].phase <= last) nodes.push_back(chip.graph.nodes()[i]);
  }
  part.set_nodes(std::move(nodes));
  const auto is_gone = [&](TensorId id) { return chip.graph[id].producer.valid() && !part[id].producer.valid(); };
  std::erase_if(part.outputs, is_gone);
  for (std::size_t i = 0; i < part.tensors().size(); ++i) {
    if (is_gone(TensorId(i))) part[TensorId(i)].updates = {};
  }
  return part;
}

// By place of a node, counted from before the blocks: whether this chip has it.
std::vector<bool> places_of(const PipelinedStep& step, const StepBlocks& blocks, std::size_t pipeline_chip) {
  std::vector<bool> wanted(blocks.count + 2, false);
  std::size_t first = 0;
  for (std::size_t s = 0; s < step.sizes.size(); ++s) {
    const bool own = step.order.chip_of[s] == pipeline_chip;
    if (own && s == 0) wanted.front() = true;
    if (own && s + 1 == step.sizes.size()) wanted.back() = true;
    for (std::size_t b = first; b < first + step.sizes[s]; ++b) wanted[b + 1] = wanted[b + 1] || own;
    first += step.sizes[s];
  }
  return wanted;
}

StageResult result_of(const ChipKind& kind) {
  StageResult result{.chip = static_cast<std::int64_t>(kind.chip), .chips = static_cast<std::int64_t>(kind.count)};
  for (std::size_t stage : kind.stages) result.stages.push_back(static_cast<std::int64_t>(stage));
  result.blocks = static_cast<std::int64_t>(kind.blocks);
  result.forward_s = kind.forward_s;
  result.backward_s = kind.backward_s;
  result.update_s = kind.update_s;
  result.busy_s = kind.busy_s;
  result.static_bytes = kind.static_bytes;
  result.peak_bytes = kind.peak_bytes;
  result.in_flight = kind.most_in_flight;
  return result;
}

double length_of(const PipelineTask& task, const StageCost& cost, bool splits) {
  if (task.part == PipelinePart::forward) return cost.forward;
  if (task.part == PipelinePart::weights) return cost.weights;
  return cost.backward + (splits ? 0 : cost.weights);
}

std::vector<PipelineEvent> events_of(const PipelinedStep& step) {
  std::vector<PipelineEvent> events;
  std::size_t all = 0;
  for (const auto& tasks : step.order.tasks) all += tasks.size();
  if (all > most_events) return events;
  constexpr std::array<const char*, 3> names = {"forward", "backward", "weights"};
  for (std::size_t chip = 0; chip < step.order.tasks.size(); ++chip) {
    for (std::size_t k = 0; k < step.order.tasks[chip].size(); ++k) {
      const PipelineTask& task = step.order.tasks[chip][k];
      const double begin = step.times.begins[chip][k];
      events.push_back({.chip = static_cast<std::int64_t>(chip),
                        .stage = task.stage,
                        .micro_batch = task.micro_batch,
                        .part = names[static_cast<std::size_t>(task.part)],
                        .begin_s = begin,
                        .end_s = begin + length_of(task, step.costs[task.stage], step.order.splits_backward)});
    }
  }
  return events;
}

void set_axis(ParallelResult& result, const std::string& name, const AxisCost& cost) {
  for (AxisResult& axis : result.axes) {
    if (axis.axis != name) continue;
    axis.collectives = cost.collectives;
    axis.sent_bytes = cost.sent_bytes;
    axis.communication_s = cost.communication_s;
    axis.exposed_s = cost.exposed_s;
  }
}

ParallelResult parallel_of(const ParallelRun& run, const PipelineSettings& settings, const PipelinedStep& step) {
  ParallelResult result = parallel_result(run, {}, {});
  result.schedule = name_of(settings.schedule);
  result.bubble_fraction = step.bubble_fraction;
  result.energy_pj = step.energy_pj;
  for (const ChipKind& kind : step.kinds) result.stages.push_back(result_of(kind));
  result.pipeline = events_of(step);
  set_axis(result, "tp", step.tp);
  set_axis(result, "dp", step.dp);
  set_axis(result, "pp", step.pp);
  return result;
}

// Of the chip that holds most: what micro-batches in flight keep comes on top of what one of them needs.
void set_memory(Evaluation& result, const PipelinedStep& step, const Hardware& hardware) {
  const ChipKind& most = *std::ranges::max_element(step.kinds, {}, &ChipKind::peak_bytes);
  for (MemoryResult& memory : result.memories) {
    const auto same = std::ranges::find(hardware.memories, memory.name, &Memory::name);
    if (same == hardware.memories.end() || same->kind != MemoryKind::dram) continue;
    memory.peak_by_role.emplace_back("other micro-batches",
                                     static_cast<double>(most.peak_bytes - memory.live_peak_bytes));
    memory.live_peak_bytes = memory.packed_peak_bytes = most.peak_bytes;
    result.fits = most.peak_bytes <= memory.capacity_bytes;
    if (result.fits) continue;
    result.does_not_fit = fmt::format("{} of chip {} of the pipeline is too small by {}: {} are needed, it has {}",
                                      memory.name, most.chip, byte_size(most.peak_bytes - memory.capacity_bytes),
                                      byte_size(most.peak_bytes), byte_size(memory.capacity_bytes));
  }
}

void set_latency(Evaluation& result, double seconds) {
  const double waited = seconds - result.latency_s;
  result.latency_by.emplace_back("pipeline", waited * result.clock_hz);
  result.utilization *= result.latency_s / seconds;
  result.latency_s = seconds;
  result.latency_cycles = seconds * result.clock_hz;
}

Status check_pipeline_plan(const Plan& plan) {
  if (plan.tensors.empty() && plan.stacks.empty() && plan.operators.empty()) return Done{};
  return Error{.message = "a plan of single tensors, operators or stacks is not known for pipelines",
               .place = "--parallel",
               .advice = "say recompute=selective or recompute=blocks, and leave out --recompute and --page"};
}

}  // namespace

Expected<Evaluation> evaluate_pipeline(OpenedStep whole, const StepRequest& options, const Hardware& hardware,
                                       const Plan& plan, ParallelRun& run, Evaluation result,
                                       const EvaluatePart& evaluate_part) {
  MONET_RETURN_IF_ERROR(check_pipeline_plan(plan));
  if (run.batch == 0) {
    run.micro_batch = std::max<std::int64_t>(1, whole.batch);
    run.batch = run.micro_batch * run.options.size("dp");
  }
  result.batch = run.batch;
  MONET_TRY(const ChipStep chip, chip_step(std::move(whole), run.options, run.pipeline.recompute));
  MONET_TRY(std::vector<std::string> warnings, check_hashes(plan, chip.graph, hardware, options.force));
  std::ranges::copy(warnings, std::back_inserter(result.warnings));
  std::ranges::copy(chip.notes, std::back_inserter(result.notes));
  result.parameters = chip.parameters;
  result.saved_bytes = chip.saved_bytes;
  const auto dp = static_cast<double>(run.options.size("dp"));
  run.model_macs = chip.model_macs * dp;
  run.hardware_macs = chip.hardware_macs * dp;
  run.tokens = chip.tokens;
  MONET_TRY(const auto laws, laws_of(hardware));
  const bool tf32 = options.products == "tf32" || options.train.precision == "tf32";
  const StepProfile profile = profile_of(chip.graph, chip.blocks, *laws, run.network.get(), {.tf32 = tf32});
  MONET_TRY(const PipelineSettings settings, pipeline_settings(run.pipeline, run.options, result.micro_batches));
  MONET_TRY(const PipelinedStep step, pipelined(profile, settings, *run.network));

  const std::vector<NodePart> parts = parts_of(chip.graph, chip.blocks);
  const std::vector<bool> wanted = places_of(step, chip.blocks, step.slowest);
  const Graph last = part_of(chip, parts, wanted, Phase::optimizer);
  MONET_TRY(result, evaluate_part(last, plan, std::move(result)));
  if (result.micro_batches > 1) {
    const Graph one = part_of(chip, parts, wanted, Phase::backward);
    MONET_TRY(const Evaluation part, evaluate_part(one, plan, Evaluation{.model = result.model}));
    result = repeat(part, result.micro_batches - 1, std::move(result));
  }
  result.parallel = parallel_of(run, settings, step);
  set_memory(result, step, hardware);
  set_latency(result, step.seconds);
  Plan saved;
  saved.graph_hash = hash_of(chip.graph);
  saved.hardware_hash = hash_of(hardware);
  saved.lowering = plan.lowering;
  saved.parallel = plan.parallel;
  result.plan_yaml = to_yaml(saved);
  return result;
}

}  // namespace monet
