#include "present/text/evaluation.h"

#include "base/quantities.h"
#include "present/shared/diagnosis.h"
#include "present/shared/numbers.h"
#include "present/shared/reach.h"

#include <monet/text.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace monet {

namespace {

using Align = Table::Align;

std::string line(const char* title, const std::string& value) {
  return value.empty() ? "" : fmt::format("{:<12} {}\n", title, value);
}

std::string what_text(const Evaluation& evaluation) {
  std::string text = evaluation.inference ? "inference" : "a training step";
  if (evaluation.batch > 0) text += fmt::format(", batch {}", evaluation.batch);
  if (evaluation.micro_batches > 1) text += fmt::format(", {} micro-batches", evaluation.micro_batches);
  if (!evaluation.reach.laws.empty()) return text + fmt::format(", {} kernels", evaluation.reach.lowering);
  return text + fmt::format(", mapped for {}", evaluation.objective);
}

std::string latency_text(const Evaluation& evaluation) {
  if (evaluation.clock_hz <= 0) return cycles_text(evaluation.latency_cycles) + " cycles";
  return fmt::format("{}, {} cycles at {}", seconds_text(evaluation.latency_s),
                     cycles_text(std::round(evaluation.latency_cycles)), frequency_text(evaluation.clock_hz));
}

std::string energy_line(const Evaluation& evaluation) {
  std::string text = energy_text(evaluation.energy_pj);
  if (evaluation.latency_s > 0)
    text += fmt::format(", {} on average", power_text(evaluation.energy_pj * 1e-12 / evaluation.latency_s));
  return text;
}

std::string peak_line(const MemoryResult& memory, bool kernels) {
  std::string text = memory.name + " ";
  if (!kernels && memory.packed_peak_bytes > 0) text += byte_size(memory.packed_peak_bytes) + " packed, ";
  text += byte_size(memory.live_peak_bytes) + (kernels ? " held by the allocator" : " live");
  if (memory.capacity_bytes > 0) {
    const std::int64_t used = std::max(memory.packed_peak_bytes, memory.live_peak_bytes);
    text += fmt::format(", {} of {}", share_text(static_cast<double>(used), static_cast<double>(memory.capacity_bytes)),
                        byte_size(memory.capacity_bytes));
  }
  return text;
}

// "6.66 GMAC", "12 MAC"
std::string macs_text(double macs) {
  const std::string number = with_prefix(macs);
  return number + (macs < 1000 ? " MAC" : "MAC");
}

std::string work_text(const Evaluation& evaluation) {
  if (!evaluation.reach.laws.empty()) {
    return fmt::format("{} in {} operators, {} launches; {} of the machine's peak", macs_text(evaluation.macs),
                       grouped(evaluation.nodes), grouped(evaluation.tiles), share_text(evaluation.utilization, 1));
  }
  return fmt::format(
      "{} in {} operators, {} stacks, {} tiles, {} transfers{}", macs_text(evaluation.macs), grouped(evaluation.nodes),
      grouped(evaluation.stacks), grouped(evaluation.tiles), grouped(evaluation.transfers),
      evaluation.utilization > 0 ? fmt::format("; {} of the machine's peak", share_text(evaluation.utilization, 1))
                                 : "");
}

std::string bound_text(const Evaluation& evaluation) {
  std::string text;
  if (evaluation.bound_cycles > 0) {
    text += fmt::format("latency {} of {}", ratio_text(evaluation.latency_cycles, evaluation.bound_cycles),
                        TimeText(evaluation.clock_hz)(evaluation.bound_cycles));
    if (!evaluation.bound_by.empty()) text += fmt::format(" ({})", evaluation.bound_by);
  }
  if (evaluation.bound_pj > 0) {
    text += fmt::format("{}energy {} of {}", text.empty() ? "" : ", ",
                        ratio_text(evaluation.energy_pj, evaluation.bound_pj), energy_text(evaluation.bound_pj));
  }
  return text.empty() ? "none is known" : text;
}

std::string wall_text(const Evaluation& evaluation) {
  return fmt::format("{}: mapping {}, scheduling {}, checking {}, packing {}", seconds_text(evaluation.wall_s),
                     seconds_text(evaluation.map_s), seconds_text(evaluation.schedule_s),
                     seconds_text(evaluation.check_s), seconds_text(evaluation.pack_s));
}

std::string pipeline_text(const ParallelResult& parallel) {
  if (parallel.stages.empty()) return "";
  std::string text = line("pipeline", fmt::format("{}, standing still for {} of the work", parallel.schedule,
                                                  share_text(parallel.bubble_fraction, 1)));
  for (const StageResult& stage : parallel.stages) {
    const std::string chips =
        stage.chips == 1 ? fmt::format("chip {}", stage.chip) : fmt::format("{} chips as {}", stage.chips, stage.chip);
    text += line("", fmt::format("{}: {} block{}, forward {}, backward {}, {} at most, {} in flight", chips,
                                 stage.blocks, stage.blocks == 1 ? "" : "s", seconds_text(stage.forward_s),
                                 seconds_text(stage.backward_s), byte_size(stage.peak_bytes), stage.in_flight));
  }
  return text;
}

// "1,234 tokens/s, 42.1 % of the peak of all chips" and what chips wait for each other.
std::string parallel_text(const Evaluation& evaluation) {
  if (!evaluation.parallel) return "";
  const ParallelResult& parallel = *evaluation.parallel;
  std::string text =
      line("chips", fmt::format("{} ({}), {} sample{} of each of dp at a time", grouped(parallel.chips),
                                parallel.recipe, grouped(parallel.micro_batch), parallel.micro_batch == 1 ? "" : "s"));
  std::string rate = fmt::format("{:.6g} samples/s", parallel.samples_per_s);
  if (parallel.tokens > 0) rate = fmt::format("{:.6g} tokens/s", parallel.tokens_per_s);
  if (parallel.mfu > 0) rate += fmt::format("; {} of what all chips could do", share_text(parallel.mfu, 1));
  text += line("rate", rate);
  text += pipeline_text(parallel);
  const char* title = "network";
  for (const AxisResult& axis : parallel.axes) {
    if (axis.collectives == 0) continue;
    text += line(title, fmt::format("{}: {} collectives, {} sent by a chip, {} long, {} waited for", axis.axis,
                                    grouped(axis.collectives), byte_size(static_cast<std::int64_t>(axis.sent_bytes)),
                                    seconds_text(axis.communication_s), seconds_text(axis.exposed_s)));
    title = "";
  }
  return text + line("all chips", energy_text(parallel.energy_pj));
}

std::string head_text(const Evaluation& evaluation) {
  std::string text = fmt::format("{} on {}: {}\n", evaluation.model, evaluation.hardware, what_text(evaluation));
  text += line("numbers", numbers_text(evaluation.recipe, evaluation.recipe_from));
  if (const std::string reach = reach_text(evaluation.reach); !reach.empty()) text += line("model", reach);
  if (!evaluation.fits) text += line("DOES NOT FIT", evaluation.does_not_fit);
  const char* diagnosis = "diagnosis";
  for (const std::string& sentence : diagnosis_of(evaluation)) {
    text += line(diagnosis, sentence);
    diagnosis = "";
  }
  if (evaluation.latency_cycles > 0) {
    text += line("latency", latency_text(evaluation));
    text += line("energy", energy_line(evaluation) + (evaluation.parallel ? ", of one chip" : ""));
    text += parallel_text(evaluation);
  }
  if (!evaluation.home.empty()) text += line("home", evaluation.home + ": operators come to the cores in parts");
  const char* title = "peak memory";
  for (const MemoryResult* memory : outer_memories(evaluation)) {
    text += line(title, peak_line(*memory, !evaluation.reach.laws.empty()));
    title = "";
  }
  if (evaluation.latency_cycles > 0) {
    text += line("bound", bound_text(evaluation));
    text += line("work", work_text(evaluation));
    text += line("checked", evaluation.checked.empty() ? "no" : evaluation.checked);
  }
  return text + line("computed in", wall_text(evaluation));
}

Text comparison_text(const Evaluation& evaluation) {
  if (evaluation.inference || evaluation.inference_cycles <= 0) return "";
  const TimeText time(evaluation.clock_hz);
  Table table({{"against inference"}, {"inference", Align::right}, {"training", Align::right}, {"", Align::right}});
  table.add({"latency", time(evaluation.inference_cycles), time(evaluation.latency_cycles),
             ratio_text(evaluation.latency_cycles, evaluation.inference_cycles)});
  table.add({"energy", energy_text(evaluation.inference_pj), energy_text(evaluation.energy_pj),
             ratio_text(evaluation.energy_pj, evaluation.inference_pj)});
  const auto memories = outer_memories(evaluation);
  if (!memories.empty()) {
    const std::int64_t peak = memories.front()->live_peak_bytes;
    table.add({"peak of " + memories.front()->name, byte_size(evaluation.inference_peak_bytes), byte_size(peak),
               ratio_text(static_cast<double>(peak), static_cast<double>(evaluation.inference_peak_bytes))});
  }
  return "\n" + table;
}

std::string filled_text(const Evaluation& evaluation) {
  if (evaluation.filled.empty()) return "";
  constexpr std::size_t most = 12;
  std::string text = "\nwhat the plan left open, the default policy has filled in:\n";
  const std::size_t shown = std::min(evaluation.filled.size(), most);
  for (std::size_t i = 0; i < shown; ++i) text += "  " + evaluation.filled[i] + "\n";
  if (shown < evaluation.filled.size())
    text += fmt::format("  and {} more; --save-plan writes all of it\n", evaluation.filled.size() - shown);
  return text;
}

Text options_text(const Evaluation& evaluation) {
  if (evaluation.options.empty()) return "";
  const TimeText time(evaluation.clock_hz);
  Table table({{evaluation.fits ? "what would be better" : "what could be done"},
               {"fits"},
               {"peak", Align::right},
               {"latency", Align::right},
               {"energy", Align::right},
               {"remark"}});
  for (const FitOption& option : evaluation.options) {
    table.add({option.what, option.fits ? "yes" : "no", option.peak_bytes > 0 ? byte_size(option.peak_bytes) : "",
               option.latency_cycles > 0 ? time(option.latency_cycles) : "",
               option.energy_pj > 0 ? energy_text(option.energy_pj) : "", option.reason});
  }
  return "\n" + table;
}

}  // namespace

std::string TimeText::operator()(double cycles) const {
  return clock_hz_ > 0 ? seconds_text(cycles / clock_hz_) : cycles_text(cycles) + " cycles";
}

std::string share_text(double part, double whole) {
  if (!(whole > 0)) return "";
  const double percent = 100 * part / whole;
  return fmt::format("{:.1f}%", std::abs(percent) < 0.05 ? 0 : percent);
}

std::string ratio_text(double value, double reference) {
  return reference > 0 ? fmt::format("{:.2f}x", value / reference) : "";
}

std::vector<const MemoryResult*> outer_memories(const Evaluation& evaluation) {
  std::vector<const MemoryResult*> outer;
  for (const MemoryResult& memory : evaluation.memories) {
    if ((memory.kind == "dram" || memory.kind == "storage") && memory.live_peak_bytes > 0) outer.push_back(&memory);
  }
  if (outer.empty() && !evaluation.memories.empty())
    outer.push_back(&*std::ranges::max_element(evaluation.memories, {}, &MemoryResult::live_peak_bytes));
  std::ranges::stable_sort(outer, std::ranges::greater(), &MemoryResult::live_peak_bytes);
  return outer;
}

Text to_text(const Evaluation& evaluation, const EvaluateView& view) {
  Text text = head_text(evaluation);
  // What to do comes first.
  text += options_text(evaluation);
  if (!evaluation.fits) text += peak_text(evaluation, view);
  text += phases_text(evaluation) + energy_table(evaluation) + cores_text(evaluation) + links_text(evaluation) +
          memories_text(evaluation);
  if (evaluation.fits) text += peak_text(evaluation, view);
  text += operators_text(evaluation, view) + critical_path_text(evaluation) + comparison_text(evaluation) +
          filled_text(evaluation);
  return text;
}

}  // namespace monet
