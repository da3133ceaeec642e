#include "base/quantities.h"
#include "graph/shape.h"
#include "present/shared/numbers.h"
#include "present/text/inspection.h"

#include <monet/text.h>
#include <monet/train.h>

#include <fmt/format.h>

namespace monet {

namespace {

using Align = Table::Align;

Text phase_table(const Inspection& step) {
  Table table({{""},
               {"forward", Align::right},
               {"backward", Align::right},
               {"optimizer", Align::right},
               {"total", Align::right}});
  const auto row = [&](const char* name, const ByPhase& numbers) {
    table.add({name, grouped(numbers.forward), grouped(numbers.backward), grouped(numbers.optimizer),
               grouped(numbers.total())});
  };
  row("nodes", step.nodes);
  row("MACs", step.macs);
  row("other operations", step.other_operations);
  return table;
}

Text memory_table(const Training& training) {
  Table table({{"memory"}, {"", Align::right}, {"bytes", Align::right}});
  const auto row = [&](const char* name, std::int64_t bytes) { table.add({name, byte_size(bytes), grouped(bytes)}); };
  row("parameters", training.static_bytes.parameters);
  row("buffers", training.static_bytes.buffers);
  row("optimizer state", training.static_bytes.optimizer_state);
  row("batch and targets", training.static_bytes.batch);
  table.add_rule();
  row("static", training.static_bytes.total());
  row("gradients of parameters", training.gradient_bytes);
  row("saved for backward", training.saved_bytes);
  return table;
}

Text format_table(const Training& training) {
  Table table({{"class"},
               {"format"},
               {"tensors", Align::right},
               {"copies", Align::right},
               {"elements quantized", Align::right},
               {"bytes", Align::right},
               {"of these padding", Align::right}});
  for (const FormatClass& each : training.formats) {
    table.add({each.name, each.format, grouped(each.tensors), grouped(each.copies), grouped(each.elements),
               grouped(each.bytes), grouped(each.padding_bytes)});
  }
  return table;
}

Text saved_table(const Training& training) {
  Table table(
      {{"saved tensor"}, {"shape"}, {"type"}, {"", Align::right}, {"bytes", Align::right}, {"storage", Align::right}});
  for (const SavedSummary& saved : training.saved) {
    table.add({saved.name, to_string(saved.shape), saved.type, byte_size(saved.bytes), grouped(saved.bytes),
               saved.storage_bytes == saved.bytes ? "" : grouped(saved.storage_bytes)});
  }
  return table;
}

Text parameter_table(const Training& training) {
  Table table({{"parameter"}, {"shape"}, {"type"}, {""}});
  for (const ParameterSummary& parameter : training.parameters) {
    table.add({parameter.name, to_string(parameter.shape), parameter.type, parameter.trained ? "trained" : "frozen"});
  }
  return table;
}

}  // namespace

Text to_text(const Training& training, const TrainView& view) {
  const auto line = [](const char* title, const std::string& value) {
    return fmt::format("{:<12} {}\n", title, value);
  };
  Text text = fmt::format("{}\n", training.step.model);
  if (training.was_training_step) {
    text += line("step", "as the file has it; a step is not differentiated again");
  } else {
    text += line("loss", training.loss);
    text += line("optimizer", training.optimizer);
    text += line("numbers", numbers_text(training.recipe, training.recipe_from));
    if (training.micro_batches > 1) {
      text += line("step", fmt::format("{} micro-batches: forward and backward below are of one of them",
                                       training.micro_batches));
    }
  }
  text += line("parameters", fmt::format("{} in {} tensors", grouped(training.step.parameters),
                                         grouped(training.step.parameter_tensors)));
  if (!training.was_training_step)
    text += line("trained", fmt::format("{} in {} tensors", grouped(training.trained_parameters),
                                        grouped(training.trained_tensors)));
  text += line("saved",
               fmt::format("{} tensors, {} elements, {}", grouped(static_cast<std::int64_t>(training.saved.size())),
                           grouped(training.saved_elements), byte_size(training.saved_bytes)));
  if (!training.recomputed.empty()) {
    text += line("recomputed", fmt::format("{} tensors, by {} nodes with {} MACs of the backward part",
                                           grouped(static_cast<std::int64_t>(training.recomputed.size())),
                                           grouped(training.recomputed_nodes), grouped(training.recomputed_macs)));
  }
  text += "\n" + phase_table(training.step);
  text += "\n" + memory_table(training);
  if (!training.formats.empty()) text += "\n" + format_table(training);
  if (view.parameters) text += "\n" + parameter_table(training);
  if (view.saved) text += "\n" + saved_table(training);
  if (view.layers) text += "\n" + layer_table(training.step);
  text += "\n" + operator_table(training.step);
  return text;
}

}  // namespace monet
