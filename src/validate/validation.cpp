#include "validate/validation.h"

#include "base/glob.h"
#include "base/quantities.h"
#include "base/suggest.h"
#include "base/try.h"
#include "present/json/json.h"
#include "validate/dacapo.h"

#include <monet/text.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace monet {

namespace {

// Not part of the network: library workspace in the first rows, rounding of small allocations.
constexpr std::int64_t least_batch = 4;
constexpr std::int64_t least_saved = std::int64_t{10} << 20;

std::string memory_aside(const MeasuredStep& measured) {
  if (measured.batch < least_batch) return "batch below 4";
  if (measured.after_forward_bytes - measured.static_bytes <= least_saved) return "at most 10 MiB saved";
  return "";
}

std::vector<ValidationRow> memory_rows(const MeasuredStep& measured, const Training& step) {
  const std::string aside = memory_aside(measured);
  const auto row = [&](const char* quantity, std::int64_t bytes, std::int64_t modelled) {
    return ValidationRow{measured.name(), quantity, static_cast<double>(bytes), static_cast<double>(modelled), aside};
  };
  return {row("saved bytes", measured.after_forward_bytes - measured.static_bytes, step.saved_bytes),
          row("static bytes", measured.static_bytes, step.static_bytes.total())};
}

std::vector<ValidationRow> count_rows(const MeasuredStep& measured, const Training& step) {
  const auto row = [&](const char* quantity, std::int64_t number, std::int64_t modelled, std::string aside) {
    return ValidationRow{measured.name(), quantity, static_cast<double>(number), static_cast<double>(modelled),
                         std::move(aside)};
  };
  const bool grouped = std::ranges::any_of(step.step.layers, [](const LayerSummary& layer) {
    const auto is_group = [](const auto& loop) { return loop.first == Dim::G && loop.second > 1; };
    return layer.op == "ConvWeightGrad" && std::ranges::any_of(layer.nests.front(), is_group);
  });
  return {row("parameters", measured.parameters, step.step.parameters, ""),
          row("forward MACs", measured.forward_flops / 2, step.step.macs.forward, ""),
          row("backward MACs", measured.backward_flops / 2, step.step.macs.backward,
              grouped ? "PyTorch over-counts grouped convolutions" : "")};
}

using RowsOf = std::vector<ValidationRow> (*)(const MeasuredStep&, const Training&);

Expected<Validation> over_measured_steps(const std::string& name, const std::string& data,
                                         const ValidateOptions& options, RowsOf rows_of,
                                         bool (*wanted)(const MeasuredStep&)) {
  MONET_TRY(const std::vector<MeasuredStep> steps, wanted_steps(data, options));
  Validation validation{.name = name, .rows = {}, .notes = {}};
  for (const MeasuredStep& measured : steps) {
    if (!wanted(measured)) continue;
    if (options.stop && options.stop()) break;
    MONET_TRY(const Training step, train(model_of(measured, data), train_options_of(measured)));
    std::ranges::move(rows_of(measured, step), std::back_inserter(validation.rows));
  }
  return validation;
}

// Absolute errors of the rows that count, in percent.
std::vector<double> errors_of(const Validation& validation, const std::string& quantity) {
  std::vector<double> errors;
  for (const ValidationRow& row : validation.rows) {
    if (!row.aside.empty() || (!quantity.empty() && row.quantity != quantity)) continue;
    errors.push_back(std::abs(row.error_percent()));
  }
  return errors;
}

std::vector<std::string> quantities_of(const Validation& validation) {
  std::vector<std::string> quantities;
  for (const ValidationRow& row : validation.rows) {
    if (std::ranges::find(quantities, row.quantity) == quantities.end()) quantities.push_back(row.quantity);
  }
  return quantities;
}

std::string text_of_value(double value) {
  if (std::isnan(value)) return "-";
  return value == std::floor(value) && std::abs(value) < 9e15 ? grouped(static_cast<std::int64_t>(value))
                                                              : fmt::format("{:.{}f}", value, value < 1000 ? 3 : 0);
}

}  // namespace

std::string model_of(const MeasuredStep& measured, const std::string& data) {
  return fmt::format("{}/models/{}.onnx", data, measured.network);
}

TrainOptions train_options_of(const MeasuredStep& measured) {
  TrainOptions options;
  options.batch = measured.batch;
  options.optimizer = measured.optimizer;
  if (measured.precision == "bf16") options.precision = "bf16";
  if (measured.precision == "amp") options.precision = "mixed";
  return options;
}

Error nothing_matches(const ValidateOptions& options, const std::string& example) {
  return {.message = fmt::format("no case matches '{}'", options.only),
          .place = "--only",
          .advice = fmt::format("cases look like '{}'; * stands for any characters", example)};
}

Expected<std::vector<MeasuredStep>> wanted_steps(const std::string& data, const ValidateOptions& options) {
  MONET_TRY(std::vector<MeasuredStep> steps, read_measured_steps(data + "/groundtruth/h200_training.csv"));
  if (options.only.empty() || steps.empty()) return steps;
  const std::string example = steps.front().name();
  std::erase_if(steps, [&](const MeasuredStep& step) { return !matches(options.only, step.name()); });
  if (steps.empty()) return nothing_matches(options, example);
  return steps;
}

const std::vector<ValidationInfo>& validations() {
  static const std::vector<ValidationInfo> all = {
      {"counts", "parameters, forward and backward MACs of measured training steps", false},
      {"memory", "saved and static bytes of measured training steps in fp32", false},
      {"memory-low-precision", "the same in bf16 and in mixed precision", false},
      {"checkpoint", "saved bytes and backward MACs of measured steps with block-wise checkpointing", false},
      {"silicon", "cycles of chips that were measured: DepFiN, DIANA, a 4x4 analog chip", false},
      {"dacapo", "training and inference times of DaCapo's simulator, which the preset emulates", false},
      {"robotics", "footprint and throughput claimed for square groups on models of four robots", false},
      {"snax-mx", "rates of SNAX-MX, and what it makes of whole training steps", false},
      {"tin-tin", "energy and memory that integer training saves on a microcontroller", false},
      {"h200", "latency, energy and memory of measured training steps, by laws of kernels", false},
      {"h200-compiled", "the same of training steps whose network a compiler fused", false},
      {"collectives", "collectives between chips: ASTRA-sim's simulator, and NCCL on A100 and H100", false},
      {"parallel", "published training steps on 4 to 16,384 chips: time, scaling, order of settings", false},
      {"h200-operators", "device time of profiled training steps by class of operator, likewise", false},
  };
  return all;
}

double Validation::mean_absolute_percent(const std::string& quantity) const {
  const std::vector<double> errors = errors_of(*this, quantity);
  const double sum = std::accumulate(errors.begin(), errors.end(), 0.0);
  return errors.empty() ? 0 : sum / static_cast<double>(errors.size());
}

double Validation::worst_percent(const std::string& quantity) const {
  const std::vector<double> errors = errors_of(*this, quantity);
  return errors.empty() ? 0 : *std::ranges::max_element(errors);
}

ValidationRow prediction(std::string name, std::string quantity, double modelled, const std::string& reason) {
  return {.name = std::move(name),
          .quantity = std::move(quantity),
          .measured = std::numeric_limits<double>::quiet_NaN(),
          .modelled = modelled,
          .aside = reason.empty() ? "a prediction: nothing is published" : reason};
}

Status keep_wanted(Validation& validation, const ValidateOptions& options) {
  if (options.only.empty() || validation.rows.empty()) return Done{};
  const std::string example = validation.rows.front().name;
  std::erase_if(validation.rows, [&](const ValidationRow& row) { return !matches(options.only, row.name); });
  if (validation.rows.empty()) return nothing_matches(options, example);
  return Done{};
}

std::optional<Error> missing_data(const std::string& name, const ValidateOptions& options) {
  if (name == "collectives" || name == "parallel") {
    const auto& files = name == "parallel" ? parallel_point_files() : collective_files();
    const auto folder = parallel_folder(options.data, data_folder(), files);
    return folder ? std::nullopt : std::optional(folder.error());
  }
  if (name != "dacapo") return std::nullopt;
  const auto folder = dacapo_tables_folder(options.data, data_folder());
  return folder ? std::nullopt : std::optional(folder.error());
}

Expected<Validation> validate(const std::string& name, const ValidateOptions& options) {
  const std::string folder = options.data.empty() ? data_folder() : options.data;
  if (name == "dacapo") {
    MONET_TRY(const std::string tables, dacapo_tables_folder(options.data, data_folder()));
    return validate_dacapo(tables, options);
  }
  if (name == "collectives") {
    MONET_TRY(const std::string parallel, parallel_folder(options.data, data_folder(), collective_files()));
    return validate_collectives(parallel, options);
  }
  if (name == "parallel") {
    MONET_TRY(const std::string points, parallel_folder(options.data, data_folder(), parallel_point_files()));
    return validate_parallel(points, options);
  }
  if (name == "robotics") return validate_robotics(options);
  if (name == "snax-mx") return validate_snax_mx(options);
  if (name == "tin-tin") return validate_tin_tin(options);
  if (name == "checkpoint") return validate_checkpoint(folder, options);
  if (name == "silicon") return validate_silicon(folder, options);
  if (name == "h200") return validate_h200(folder, options);
  if (name == "h200-compiled") return validate_h200_compiled(folder, options);
  if (name == "h200-operators") return validate_h200_operators(folder, options);
  const auto in_fp32 = [](const MeasuredStep& step) { return !step.checkpoint && step.precision == "fp32"; };
  const auto in_fewer_bits = [](const MeasuredStep& step) {
    return !step.checkpoint && (step.precision == "bf16" || step.precision == "amp");
  };
  if (name == "counts") return over_measured_steps(name, folder, options, count_rows, in_fp32);
  if (name == "memory") return over_measured_steps(name, folder, options, memory_rows, in_fp32);
  if (name == "memory-low-precision") return over_measured_steps(name, folder, options, memory_rows, in_fewer_bits);
  std::vector<std::string> names;
  for (const ValidationInfo& info : validations()) names.push_back(info.name);
  const std::string guess = nearest(name, names);
  return Error{.message = fmt::format("there is no validation '{}'", name),
               .place = "monet validate",
               .advice = guess.empty() ? fmt::format("there are {}", fmt::join(names, ", "))
                                       : fmt::format("did you mean '{}'?", guess)};
}

std::string to_json(const std::vector<Validation>& validations) {
  Json json = {{"schema", 1}, {"command", "validate"}, {"rows", Json::array()}};
  Validation all;
  Json summary = Json::array();
  Json notes = Json::array();
  Json labels = Json::object();
  Json groups = Json::array();
  for (const Validation& validation : validations) {
    if (!validation.label.empty()) labels[validation.name] = validation.label;
    for (const ValidationRow& row : validation.rows) {
      json["rows"].push_back({{"validation", validation.name},
                              {"case", row.name},
                              {"quantity", row.quantity},
                              {"measured", row.measured},
                              {"modelled", row.modelled},
                              {"error_percent", row.error_percent()},
                              {"counts", row.aside.empty()},
                              {"aside", row.aside}});
    }
    all.rows.insert(all.rows.end(), validation.rows.begin(), validation.rows.end());
    for (const std::string& quantity : quantities_of(validation)) {
      summary.push_back({{"validation", validation.name},
                         {"quantity", quantity},
                         {"rows", errors_of(validation, quantity).size()},
                         {"mean_absolute_percent", validation.mean_absolute_percent(quantity)},
                         {"worst_percent", validation.worst_percent(quantity)}});
    }
    for (const std::string& note : validation.notes) notes.push_back(note);
    for (const ValidationGroup& group : validation.groups) {
      Json means = Json::object();
      for (const auto& [quantity, percent] : group.means) means[quantity] = percent;
      groups.push_back({{"validation", validation.name},
                        {"by", group.by},
                        {"name", group.name},
                        {"cases", group.cases},
                        {"mean_absolute_percent", std::move(means)},
                        {"pairs", group.pairs},
                        {"pairs_in_order", group.pairs_in_order}});
    }
  }
  json["quantities"] = std::move(summary);
  json["notes"] = std::move(notes);
  json["labels"] = std::move(labels);
  json["groups"] = std::move(groups);
  json["mean_absolute_percent"] = all.mean_absolute_percent();
  json["worst_percent"] = all.worst_percent();
  return text_of(json);
}

namespace {

Table table_of_rows(const Validation& validation) {
  Table table({{"case"},
               {"quantity"},
               {"measured", Table::Align::right},
               {"modelled", Table::Align::right},
               {"error", Table::Align::right},
               {""}});
  for (const ValidationRow& row : validation.rows) {
    if (validation.brief && row.aside.empty()) continue;
    // What could not be modelled has no error, nor has what was not measured.
    const bool known = row.modelled != 0 || row.measured == 0;
    table.add({row.name, row.quantity, text_of_value(row.measured), known ? text_of_value(row.modelled) : "-",
               known && !std::isnan(row.measured) ? fmt::format("{:+.2f} %", row.error_percent()) : "-",
               row.aside.empty() ? "" : "aside: " + row.aside});
  }
  return table;
}

Text groups_text(const Validation& validation) {
  if (validation.groups.empty()) return "";
  std::vector<std::string> quantities;
  for (const ValidationGroup& group : validation.groups) {
    for (const auto& [quantity, percent] : group.means) {
      if (std::ranges::find(quantities, quantity) == quantities.end()) quantities.push_back(quantity);
    }
  }
  std::vector<Table::Column> columns = {{"means by"}, {""}, {"cases", Table::Align::right}};
  for (const std::string& quantity : quantities) columns.push_back({quantity, Table::Align::right});
  columns.push_back({"in order", Table::Align::right});
  Table table(columns);
  for (const ValidationGroup& group : validation.groups) {
    std::vector<std::string> cells = {group.by, group.name, fmt::format("{}", group.cases)};
    for (const std::string& wanted : quantities) {
      const auto found = std::ranges::find(group.means, wanted, &std::pair<std::string, double>::first);
      cells.push_back(found == group.means.end() ? "" : fmt::format("{:.2f} %", found->second));
    }
    cells.push_back(group.pairs == 0 ? "" : fmt::format("{} of {}", group.pairs_in_order, group.pairs));
    table.add(std::move(cells));
  }
  return "\n" + table;
}

}  // namespace

Text to_text(const Validation& validation) {
  const std::string label = validation.label.empty() ? "" : fmt::format(": {}", validation.label);
  Text text = fmt::format("{}{}\n\n", validation.name, label) + table_of_rows(validation) + "\n";
  const std::vector<std::string> quantities = quantities_of(validation);
  for (const std::string& quantity : quantities) {
    const std::size_t rows = errors_of(validation, quantity).size();
    if (quantities.size() < 2 || rows == 0) continue;
    text += fmt::format("{}: mean {:.2f} %, worst {:.2f} % of {} rows\n", quantity,
                        validation.mean_absolute_percent(quantity), validation.worst_percent(quantity), rows);
  }
  if (const std::size_t rows = errors_of(validation, "").size(); rows > 0 || validation.label.empty()) {
    text += fmt::format("mean {:.2f} %, worst {:.2f} % (rows set aside not counted)\n",
                        validation.mean_absolute_percent(), validation.worst_percent());
  }
  text += groups_text(validation);
  if (!validation.notes.empty()) text += "\nassumed\n";
  for (const std::string& note : validation.notes) text += fmt::format("- {}\n", note);
  return text;
}

}  // namespace monet
