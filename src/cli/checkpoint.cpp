#include "cli/command.h"
#include "cli/files.h"
#include "cli/interrupt.h"

#include <fmt/format.h>

#include <filesystem>

namespace monet::cli {

namespace {

// One plan into a file; several into a folder, with a table of them.
int write_plans(const Checkpointing& result, const std::string& path) {
  if (path.empty() || result.plans.empty()) return 0;
  const bool folder = result.method == "nsga2" || result.method == "exact" || result.pareto_budgets;
  if (!folder) return write_text(path, result.plans.front().plan_yaml);
  int status = make_folder(path);
  for (std::size_t i = 0; i < result.plans.size() && status == 0; ++i) {
    status = write_text(std::filesystem::path(path) / fmt::format("plan_{:03}.yaml", i), result.plans[i].plan_yaml);
  }
  return status == 0 ? write_text(std::filesystem::path(path) / "plans.csv", to_csv(result)) : status;
}

}  // namespace

int run(const CheckpointCommand& command) {
  CheckpointOptions options = command.options;
  options.stop = stop_on_interrupt();
  const bool watched = is_watched(command.common);
  if (watched) options.progress = show_progress;
  const auto result = checkpoint_network(command.model, options, !command.points.empty());
  if (watched) clear_progress();
  if (!result) return report(result.error());
  report(result->warnings, result->notes, command.common);
  int status = write_plans(*result, command.output);
  if (status == 0) status = write_text(command.csv, command.csv.empty() ? "" : to_csv(*result));
  if (status == 0 && !command.points.empty()) status = write_text(command.points, points_to_csv(*result));
  if (status != 0) return status;
  if (command.common.json || result->feasible) {
    status = print(command.common.json ? to_json(*result) + "\n" : to_text(*result));
  }
  return status != 0 || result->feasible ? status : report(does_not_fit(*result));
}

}  // namespace monet::cli
