#include "cli/command.h"
#include "cli/files.h"
#include "cli/interrupt.h"

#include <fmt/format.h>

#include <filesystem>

namespace monet::cli {

namespace {

int write_plans(Optimization& result, const std::string& output) {
  if (output.empty() || result.plans.empty()) return 0;
  const std::filesystem::path folder = output;
  const WithoutTime same(result.wall_s);
  FolderFiles files(output);
  for (std::size_t i = 0; i < result.plans.size(); ++i) {
    OptimizedPlan& plan = result.plans[i];
    plan.plan_file = fmt::format("plan_{:03}.yaml", i);
    files.text(plan.plan_file, plan.plan_yaml);
  }
  files.text("plans.csv", to_csv(result));
  // There the plans lie beside it.
  files.text("result.json", to_json(result) + "\n");
  files.page("report.html", [&] { return report_page(result); });
  for (OptimizedPlan& plan : result.plans) plan.plan_file = folder / plan.plan_file;
  return files.publish();
}

}  // namespace

int run(const OptimizeCommand& command) {
  OptimizeOptions options = command.options;
  if (const Status read = command.on.put_into(options.evaluate); !read) return report(read.error());
  options.stop = stop_on_interrupt();
  const bool watched = is_watched(command.common);
  if (watched) options.progress = show_progress;
  auto result = optimize_network(command.model, options);
  if (watched) clear_progress();
  if (!result) return report(result.error());
  report(result->warnings, result->notes, command.common);
  if (const int status = write_plans(*result, command.output); status != 0) return status;
  int status = 0;
  if (command.common.json || result->feasible) {
    status = command.common.json ? print_json(to_json(*result)) : print(to_text(*result));
  }
  return status != 0 || result->feasible ? status : report(does_not_fit(*result));
}

}  // namespace monet::cli
