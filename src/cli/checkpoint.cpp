#include "cli/command.h"
#include "cli/files.h"
#include "cli/interrupt.h"

#include <fmt/format.h>

#include <filesystem>

namespace monet::cli {

namespace {

// One plan into a file; several, or one where the name is that of a folder, into a folder, with a table and a report.
int write_plans(Checkpointing& result, const std::string& output) {
  if (output.empty() || result.plans.empty()) return 0;
  const std::filesystem::path path = output;
  const bool several = result.method == "nsga2" || result.method == "exact" || result.pareto_budgets;
  std::error_code ignored;
  if (!several && path.has_filename() && !std::filesystem::is_directory(path, ignored)) {
    result.plans.front().plan_file = output;
    return write_text(output, result.plans.front().plan_yaml);
  }
  const WithoutTime same(result.wall_s);
  FolderFiles files(output);
  for (std::size_t i = 0; i < result.plans.size(); ++i) {
    CheckpointPlan& plan = result.plans[i];
    plan.plan_file = fmt::format("plan_{:03}.yaml", i);
    files.text(plan.plan_file, plan.plan_yaml);
  }
  files.text("plans.csv", to_csv(result));
  // There the plans lie beside it.
  files.text("result.json", to_json(result) + "\n");
  files.page("report.html", [&] { return report_page(result); });
  for (CheckpointPlan& plan : result.plans) plan.plan_file = path / plan.plan_file;
  return files.publish();
}

}  // namespace

int run(const CheckpointCommand& command) {
  CheckpointOptions options = command.options;
  if (const Status read = command.on.put_into(options.evaluate); !read) return report(read.error());
  options.stop = stop_on_interrupt();
  const bool watched = is_watched(command.common);
  if (watched) options.progress = show_progress;
  auto result = checkpoint_network(command.model, options, !command.points.empty());
  if (watched) clear_progress();
  if (!result) return report(result.error());
  report(result->warnings, result->notes, command.common);
  int status = write_plans(*result, command.output);
  if (status == 0) status = write_text(command.csv, command.csv.empty() ? "" : to_csv(*result));
  if (status == 0 && !command.points.empty()) status = write_text(command.points, points_to_csv(*result));
  if (status != 0) return status;
  if (command.common.json || result->feasible) {
    status = command.common.json ? print_json(to_json(*result)) : print(to_text(*result));
  }
  return status != 0 || result->feasible ? status : report(does_not_fit(*result));
}

}  // namespace monet::cli
