#include "validate/parallel_steps.h"

#include "base/try.h"
#include "evaluate/open/opened_step.h"
#include "evaluate/stages/chip_step.h"

#include <monet/machine.h>

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace monet {

namespace {

constexpr std::int64_t measured_layers = 3;  // of a network all of whose blocks are alike: first, middle, last

Error not_modelled(const std::string& why) { return {.message = "not modelled: " + why, .place = {}, .advice = {}}; }

bool in_fp8(const ParallelCase& of) { return of.precision.find("fp8") != std::string::npos; }

std::int64_t padded(std::int64_t vocabulary, std::int64_t multiple) {
  return multiple <= 1 ? vocabulary : (vocabulary + multiple - 1) / multiple * multiple;
}

std::string network_by_model(std::string model) {
  std::ranges::transform(model, model.begin(), [](char c) { return static_cast<char>(std::tolower(c)); });
  if (model.starts_with("llama")) return "llama";
  return model.starts_with("nemotron") ? "nemotron" : "gpt";
}

// With the tokens of one chip of cp.
std::string network_text(const ParallelCase& of) {
  const ParallelSource& from = *of.from;
  const std::int64_t vocabulary = padded(of.vocabulary, from.vocabulary_multiple * of.tp);
  const std::string sizes = fmt::format("layers={},width={},heads={},ffn={},vocabulary={},tokens={}", measured_layers,
                                        of.hidden, of.heads, of.ffn, vocabulary, of.tokens / of.cp);
  const std::string network = from.network == "by model" ? network_by_model(of.model) : from.network;
  if (network == "gpt")
    return fmt::format("gpt:{},flash={},dropout={}", sizes, from.flash ? 1 : 0, from.flash ? 0 : from.dropout);
  if (network == "llama") return fmt::format("llama:{},kv_heads={}", sizes, of.kv_heads);
  return fmt::format("nemotron-4-15b:{},kv_heads={}", sizes, of.kv_heads);
}

Status check_case(const ParallelCase& of) {
  if (of.from == nullptr) return not_modelled("its source has no line in parallel_sources.csv");
  if (of.seconds <= 0) return not_modelled("no time is published");
  if (of.ep > 1) return not_modelled("mixtures of experts");
  const std::pair<const char*, std::int64_t> needed[] = {
      {"layers", of.layers}, {"hidden", of.hidden},    {"heads", of.heads},       {"ffn", of.ffn},
      {"seq", of.tokens},    {"vocab", of.vocabulary}, {"global_batch", of.batch}};
  for (const auto& [column, value] : needed) {
    if (value <= 0) return not_modelled(fmt::format("the source states no {}", column));
  }
  if (of.tp < 1 || of.pp < 1 || of.dp < 1 || of.cp < 1 || of.micro_batch < 1 ||
      of.batch % (of.dp * of.micro_batch) != 0)
    return not_modelled("its batch is no number of micro-batches");
  if (of.tokens % of.cp != 0) return not_modelled("its tokens cannot be divided over cp");
  return Done{};
}

training::RecomputeChoice choice_of(const ParallelCase& of) {
  if (of.recompute == "full") return training::RecomputeChoice::blocks;
  if (of.recompute == "selective") return training::RecomputeChoice::selective;
  return training::RecomputeChoice::none;
}

double peak_of(const Hardware& hardware, std::string_view precision) {
  for (const StatedPeak& peak : hardware.peaks) {
    if (peak.precision == precision) return peak.operations_per_s;
  }
  return 0;
}

// Attention of one chip of cp looks at the keys of all.
void widen_attention(LoweredStep& step, std::int64_t chips) {
  if (chips == 1) return;
  for (Launch& launch : step.launches) {
    if (launch.kernel.kind != KernelKind::attention) continue;
    launch.kernel.keys *= chips;
    launch.kernel.bytes = launch.kernel.flops = 0;
    derive_sizes(launch.kernel);
  }
}

// Products with weights at the rate of eight bits: of the time that the data sheet's peaks leave.
void quicken_products(const LoweredStep& step, StepCosts& costs, double factor) {
  if (factor == 1) return;
  for (std::size_t i = 0; i < step.launches.size(); ++i) {
    const Kernel& kernel = step.launches[i].kernel;
    if (step.launches[i].collective || kernel.kind != KernelKind::product || kernel.batch > 1) continue;
    const double saved = costs.us[i] * (1 - factor);
    costs.us[i] -= saved;
    costs.total_us -= saved;
  }
}

}  // namespace

Expected<std::shared_ptr<const Hardware>> ParallelSteps::machine(const std::string& name) {
  auto found = machines_.find(name);
  if (found == machines_.end()) {
    const bool file = name.ends_with(".yaml");
    MONET_TRY(std::shared_ptr<const Hardware> hardware, Machine(file ? folder_ + "/" + name : name).hardware());
    found = machines_.emplace(name, std::move(hardware)).first;
  }
  return found->second;
}

Expected<const ParallelSteps::Chip*> ParallelSteps::chip(const ParallelCase& of, const Mesh& mesh) {
  const bool accumulates = of.batch > of.dp * of.micro_batch;
  const std::string network = network_text(of);
  const std::string key =
      fmt::format("{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}", network, of.from->machine, of.tp, of.sequence, of.recompute,
                  of.micro_batch, accumulates, in_fp8(of), of.cp, of.from->precision, mesh.axes.back().size);
  if (const auto found = chips_.find(key); found != chips_.end()) return &found->second;
  Chip made;
  MONET_TRY(made.hardware, machine(of.from->machine));
  MONET_TRY(const auto laws, laws_of(*made.hardware));
  StepRequest request;
  request.train.batch = of.micro_batch;
  request.train.accumulate = accumulates ? 2 : 1;
  request.train.precision =
      of.from->precision.ends_with(".yaml") ? folder_ + "/" + of.from->precision : of.from->precision;
  MONET_TRY(OpenedStep opened, open_step(Network(network), request, false));
  parallel::ParallelOptions options;
  options.mesh = mesh;
  options.sequence = of.sequence && of.tp > 1;
  MONET_TRY(const ChipStep chip, chip_step(std::move(opened), options, choice_of(of)));
  MONET_TRY(const ChipNetwork network_of_tp, network_of(*made.hardware, mesh, of.from->tp_overlap != "off"));
  ProfileOptions how;
  how.launches = [&](const Graph&, LoweredStep& step) { widen_attention(step, of.cp); };
  const double bf16 = peak_of(*made.hardware, "bf16"), fp8 = peak_of(*made.hardware, "fp8");
  const double factor = in_fp8(of) && fp8 > 0 ? bf16 / fp8 : 1;
  how.prices = [&](const Graph&, const LoweredStep& step, StepCosts& costs) { quicken_products(step, costs, factor); };
  how.fused = of.from->fused;
  how.host_us = of.from->host_us;
  how.early = of.from->tp_overlap != "off";
  how.in_pieces = of.from->tp_overlap == "pieces";
  made.profile = profile_of(chip.graph, chip.blocks, *laws, &network_of_tp, how);
  if (made.profile.blocks.size() != measured_layers)
    return not_modelled(fmt::format("{} blocks were found in {} layers", made.profile.blocks.size(), measured_layers));
  if (of.recompute == "full") made.profile = with_whole_blocks_again(std::move(made.profile));
  return &chips_.emplace(key, std::move(made)).first->second;
}

Expected<PipelinedStep> ParallelSteps::step(const ParallelCase& of) {
  MONET_RETURN_IF_ERROR(check_case(of));
  // Chips of cp have the same weights: gradients are summed over them, and what the optimizer keeps lies over them.
  // Stages lie outermost in all of these programs (Megatron-LM, parallel_state.py; DeepSpeed, pipe/topology.py).
  const Mesh mesh{{{"pp", of.pp}, {"dp", of.dp * of.cp}, {"tp", of.tp}}};
  MONET_TRY(const Chip* of_stage, chip(of, mesh));
  const StepProfile profile = with_blocks(of_stage->profile, static_cast<std::size_t>(of.layers));
  MONET_TRY(const ChipNetwork network, network_of(*of_stage->hardware, mesh, of.from->overlap));
  PipelineSettings settings;
  settings.chunks = static_cast<std::uint32_t>(of.pp > 1 ? of.chunks : 1);
  settings.micro_batches = static_cast<std::uint32_t>(of.batch / of.dp / of.micro_batch);
  if (settings.chunks > 1) settings.schedule = PipelineSchedule::interleaved;
  settings.cut = StageCut::equal;
  settings.zero = of.pp > 1 ? std::min(of.zero, 1) : of.zero;
  settings.overlap = of.from->overlap;
  settings.scatter = of.from->scatter && !of.sequence ? of.tp : 1;
  settings.gradient_bytes = of.from->gradient_bytes;
  return pipelined(profile, settings, network);
}

}  // namespace monet
