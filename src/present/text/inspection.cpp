#include "present/text/inspection.h"

#include "base/quantities.h"
#include "graph/shape.h"

#include <monet/inspect.h>
#include <monet/text.h>

#include <fmt/format.h>

namespace monet {

namespace {

using Align = Table::Align;

std::string shape_list(const std::vector<TensorSummary>& tensors) {
  std::string text;
  for (const TensorSummary& tensor : tensors) text += (text.empty() ? "" : ", ") + to_string(tensor.shape);
  return text;
}

// Empty instead of 0, so that what matters stands out.
std::string number_or_blank(std::int64_t number) { return number == 0 ? "" : grouped(number); }

std::string phase_line(const char* title, const ByPhase& by_phase, bool is_training_step) {
  if (!is_training_step) return fmt::format("{:<12} {}\n", title, grouped(by_phase.forward));
  return fmt::format("{:<12} {} forward, {} backward, {} optimizer\n", title, grouped(by_phase.forward),
                     grouped(by_phase.backward), grouped(by_phase.optimizer));
}

}  // namespace

Table layer_table(const Inspection& inspection) {
  std::vector<Table::Column> columns = {{"layer"},
                                        {"operator"},
                                        {"output"},
                                        {"parameters", Align::right},
                                        {"MACs", Align::right},
                                        {"other operations", Align::right}};
  if (inspection.is_training_step) columns.insert(columns.begin() + 2, {"phase"});
  Table table(columns);
  for (const LayerSummary& layer : inspection.layers) {
    std::vector<std::string> cells = {layer.name,
                                      layer.op,
                                      shape_list(layer.outputs),
                                      number_or_blank(layer.parameters),
                                      number_or_blank(layer.macs),
                                      number_or_blank(layer.other_operations)};
    if (inspection.is_training_step) cells.insert(cells.begin() + 2, layer.phase);
    table.add(std::move(cells));
  }
  return table;
}

Table operator_table(const Inspection& inspection) {
  Table table({{"operator"},
               {"nodes", Align::right},
               {"parameters", Align::right},
               {"MACs", Align::right},
               {"other operations", Align::right},
               {"output", Align::right}});
  OperatorSummary total{.op = "total", .nodes = inspection.nodes.total()};
  for (const OperatorSummary& row : inspection.operators) {
    table.add({row.op, grouped(row.nodes), number_or_blank(row.parameters), number_or_blank(row.macs),
               number_or_blank(row.other_operations), row.output_bytes == 0 ? "view" : byte_size(row.output_bytes)});
    total.parameters += row.parameters;
    total.output_bytes += row.output_bytes;
  }
  table.add_rule();
  table.add({"total", grouped(total.nodes), grouped(total.parameters), grouped(inspection.macs.total()),
             grouped(inspection.other_operations.total()), byte_size(total.output_bytes)});
  return table;
}

Text to_text(const Inspection& inspection, bool with_layers) {
  Text text = fmt::format("{}{}\n", inspection.model, inspection.is_training_step ? " (a training step)" : "");
  const auto list = [](const char* title, const std::vector<TensorSummary>& tensors) {
    std::string line;
    constexpr std::size_t most = 4;
    for (std::size_t i = 0; i < tensors.size() && i < most; ++i) {
      line +=
          fmt::format("{}{} {} {}", i > 0 ? ", " : "", tensors[i].name, to_string(tensors[i].shape), tensors[i].type);
    }
    if (tensors.size() > most) line += fmt::format(" and {} more", tensors.size() - most);
    return fmt::format("{:<12} {}\n", title, line);
  };
  text += list("inputs", inspection.inputs);
  text += list("outputs", inspection.outputs);
  text += fmt::format("{:<12} {} in {} tensors\n", "parameters", grouped(inspection.parameters),
                      grouped(inspection.parameter_tensors));
  text += phase_line("MACs", inspection.macs, inspection.is_training_step);
  text += phase_line("nodes", inspection.nodes, inspection.is_training_step);
  text += "\n";
  if (with_layers) text += layer_table(inspection) + "\n";
  text += operator_table(inspection);

  Table operations({{"operations"}, {"number", Align::right}});
  for (const auto& [kind, number] : inspection.operations) operations.add({kind, grouped(number)});
  text += "\n" + operations;
  Table memory({{"bytes by role"}, {"", Align::right}, {"", Align::right}});
  for (const auto& [role, count] : inspection.bytes_by_role) memory.add({role, byte_size(count), grouped(count)});
  text += "\n" + memory;
  return text;
}

}  // namespace monet
