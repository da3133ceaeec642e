// Measured training steps whose blocks are recomputed, against the same steps with `--recompute blocks`.
#include "base/try.h"
#include "validate/validation.h"

#include <fmt/format.h>

namespace monet {

namespace {

std::vector<ValidationRow> rows_of(const MeasuredStep& measured, const Training& step) {
  const auto row = [&](const char* quantity, std::int64_t number, std::int64_t modelled) {
    return ValidationRow{measured.name(), quantity, static_cast<double>(number), static_cast<double>(modelled), ""};
  };
  return {row("saved bytes", measured.after_forward_bytes - measured.static_bytes, step.saved_bytes),
          row("backward MACs", measured.backward_flops / 2, step.step.macs.backward)};
}

}  // namespace

Expected<Validation> validate_checkpoint(const std::string& data, const ValidateOptions& options) {
  MONET_TRY(std::vector<MeasuredStep> steps, wanted_steps(data, options));
  std::erase_if(steps, [](const MeasuredStep& step) { return !step.checkpoint; });
  if (steps.empty()) return nothing_matches(options, "resnet18, batch 8, fp32, adam, checkpointed");
  Validation validation{.name = "checkpoint", .rows = {}, .notes = {}};
  for (const MeasuredStep& measured : steps) {
    MONET_TRY(const Training step, train(model_of(measured, data), train_options_of(measured), {},
                                         {.plan = {}, .recompute = {"blocks"}, .keep = {}}));
    std::ranges::move(rows_of(measured, step), std::back_inserter(validation.rows));
  }
  validation.notes = {
      "blocks are found in the graph (residual connections, attention), not by name; what PyTorch's checkpointing does "
      "not run again is not run again: what comes after the last tensor that a block saves"};
  return validation;
}

}  // namespace monet
