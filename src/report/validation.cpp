#include "base/suggest.h"
#include "base/try.h"
#include "report/groundtruth.h"
#include "report/json.h"
#include "report/table.h"

#include <monet/train.h>
#include <monet/validate.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace monet {

namespace {

// Not part of the network: library workspace in the first rows, rounding of small allocations.
constexpr std::int64_t least_batch = 4;
constexpr std::int64_t least_saved = std::int64_t{10} << 20;

Expected<Training> modelled_step(const MeasuredStep& measured, const std::string& data) {
  TrainOptions options;
  options.batch = measured.batch;
  options.optimizer = measured.optimizer;
  if (measured.precision == "bf16") options.precision = "bf16";
  if (measured.precision == "amp") options.precision = "mixed";
  return train(fmt::format("{}/models/{}.onnx", data, measured.network), options);
}

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
    return layer.op == "ConvWeightGrad" && layer.loops.starts_with("G ") && !layer.loops.starts_with("G 1,");
  });
  return {row("parameters", measured.parameters, step.step.parameters, ""),
          row("forward MACs", measured.forward_flops / 2, step.step.macs.forward, ""),
          row("backward MACs", measured.backward_flops / 2, step.step.macs.backward,
              grouped ? "PyTorch over-counts grouped convolutions" : "")};
}

using RowsOf = std::vector<ValidationRow> (*)(const MeasuredStep&, const Training&);

Expected<Validation> over_measured_steps(const std::string& name, const std::string& data, RowsOf rows_of,
                                         bool (*wanted)(const MeasuredStep&)) {
  MONET_TRY(const std::vector<MeasuredStep> steps, read_measured_steps(data + "/groundtruth/h200_training.csv"));
  Validation validation{.name = name, .rows = {}};
  for (const MeasuredStep& measured : steps) {
    if (!wanted(measured)) continue;
    MONET_TRY(const Training step, modelled_step(measured, data));
    std::ranges::move(rows_of(measured, step), std::back_inserter(validation.rows));
  }
  return validation;
}

template <class Fold>
double over_counting_rows(const Validation& validation, double start, const Fold& fold) {
  double result = start;
  for (const ValidationRow& row : validation.rows) {
    if (row.aside.empty()) result = fold(result, std::abs(row.error_percent()));
  }
  return result;
}

}  // namespace

const std::vector<ValidationInfo>& validations() {
  static const std::vector<ValidationInfo> all = {
      {"counts", "parameters, forward and backward MACs of measured training steps"},
      {"memory", "saved and static bytes of measured training steps in fp32"},
      {"memory-low-precision", "the same in bf16 and in mixed precision"},
  };
  return all;
}

double Validation::mean_absolute_percent() const {
  const auto count = std::ranges::count_if(rows, [](const ValidationRow& row) { return row.aside.empty(); });
  const double sum = over_counting_rows(*this, 0, [](double a, double b) { return a + b; });
  return count == 0 ? 0 : sum / static_cast<double>(count);
}

double Validation::worst_percent() const {
  return over_counting_rows(*this, 0, [](double a, double b) { return std::max(a, b); });
}

Expected<Validation> validate(const std::string& name, const std::string& data) {
  const std::string folder = data.empty() ? MONET_DATA_DIR : data;
  if (name == "counts") {
    return over_measured_steps(name, folder, count_rows,
                               [](const MeasuredStep& step) { return !step.checkpoint && step.precision == "fp32"; });
  }
  if (name == "memory") {
    return over_measured_steps(name, folder, memory_rows,
                               [](const MeasuredStep& step) { return !step.checkpoint && step.precision == "fp32"; });
  }
  if (name == "memory-low-precision") {
    return over_measured_steps(name, folder, memory_rows, [](const MeasuredStep& step) {
      return !step.checkpoint && (step.precision == "bf16" || step.precision == "amp");
    });
  }
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
  double worst = 0;
  double sum = 0;
  std::int64_t count = 0;
  for (const Validation& validation : validations) {
    for (const ValidationRow& row : validation.rows) {
      json["rows"].push_back({{"validation", validation.name},
                              {"case", row.name},
                              {"quantity", row.quantity},
                              {"measured", row.measured},
                              {"modelled", row.modelled},
                              {"error_percent", row.error_percent()},
                              {"counts", row.aside.empty()},
                              {"aside", row.aside}});
      if (!row.aside.empty()) continue;
      worst = std::max(worst, std::abs(row.error_percent()));
      sum += std::abs(row.error_percent());
      ++count;
    }
  }
  json["mean_absolute_percent"] = count == 0 ? 0 : sum / static_cast<double>(count);
  json["worst_percent"] = worst;
  return text_of(json);
}

std::string to_text(const Validation& validation) {
  using Align = Table::Align;
  Table table(
      {{"case"}, {"quantity"}, {"measured", Align::right}, {"modelled", Align::right}, {"error", Align::right}, {""}});
  for (const ValidationRow& row : validation.rows) {
    table.add({row.name, row.quantity, fmt::format("{:.0f}", row.measured), fmt::format("{:.0f}", row.modelled),
               fmt::format("{:+.2f} %", row.error_percent()), row.aside.empty() ? "" : "aside: " + row.aside});
  }
  return fmt::format("{}\n\n{}\nmean {:.2f} %, worst {:.2f} % (rows set aside not counted)\n", validation.name,
                     table.text(), validation.mean_absolute_percent(), validation.worst_percent());
}

}  // namespace monet
