#include "validate/groundtruth.h"

#include "base/csv_records.h"
#include "base/try.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace monet {

namespace {

// Columns that all tables of steps have.
Expected<MeasuredStep> any_step_of(const CsvRecord& record) {
  MeasuredStep step;
  MONET_TRY(step.network, record.text("network"));
  MONET_TRY(step.batch, record.integer("batch"));
  MONET_TRY(step.precision, record.text("precision"));
  MONET_TRY(step.optimizer, record.text("optimizer"));
  MONET_TRY(step.static_bytes, record.integer("static_bytes"));
  MONET_TRY(step.after_forward_bytes, record.integer("after_forward_bytes"));
  MONET_TRY(step.step_ms, record.number("graph_step_ms"));
  MONET_TRY(step.energy_mj, record.number("energy_per_step_mj"));
  return step;
}

Expected<MeasuredStep> compiled_step_of(const CsvRecord& record) {
  MONET_TRY(MeasuredStep step, any_step_of(record));
  MONET_TRY(step.peak_bytes, record.integer("peak_bytes"));
  return step;
}

Expected<MeasuredStep> step_of(const CsvRecord& record) {
  MONET_TRY(MeasuredStep step, any_step_of(record));
  MONET_TRY(const std::string checkpoint, record.text("checkpoint"));
  step.checkpoint = checkpoint == "yes";
  MONET_TRY(step.parameters, record.integer("parameters"));
  constexpr std::array phases = {"peak_forward_bytes", "peak_backward_bytes", "peak_optimizer_bytes"};
  for (std::size_t i = 0; i < phases.size(); ++i) {
    MONET_TRY(step.phase_peak_bytes[i], record.integer(phases[i]));
    step.peak_bytes = std::max(step.peak_bytes, step.phase_peak_bytes[i]);
  }
  MONET_TRY(step.forward_flops, record.integer("fwd_flops"));
  MONET_TRY(step.backward_flops, record.integer("bwd_flops"));
  return step;
}

Expected<std::vector<MeasuredStep>> read_steps(const std::string& path,
                                               Expected<MeasuredStep> (*of)(const CsvRecord& record)) {
  MONET_TRY(const std::vector<CsvRecord> records,
            read_csv(path, "give the folder that has groundtruth/ and models/ with --data"));
  std::vector<MeasuredStep> steps;
  for (const CsvRecord& record : records) {
    MONET_TRY(MeasuredStep step, of(record));
    steps.push_back(std::move(step));
  }
  return steps;
}

}  // namespace

std::string MeasuredStep::name() const {
  return fmt::format("{}, batch {}, {}, {}{}", network, batch, precision, optimizer,
                     checkpoint ? ", checkpointed" : "");
}

Expected<std::vector<MeasuredStep>> read_measured_steps(const std::string& path) { return read_steps(path, step_of); }

Expected<std::vector<MeasuredStep>> read_compiled_steps(const std::string& path) {
  return read_steps(path, compiled_step_of);
}

}  // namespace monet
