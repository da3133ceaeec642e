#include "cli/command.h"
#include "cli/files.h"
#include "cli/interrupt.h"

#include <fmt/format.h>

#include <algorithm>

namespace monet::cli {

namespace {

int write_files(PrecisionComparison& comparison, const PrecisionCompareCommand& command) {
  const int status = write_text(command.csv, command.csv.empty() ? "" : to_csv(comparison));
  if (status != 0 || command.folder.empty()) return status;
  const WithoutTime same(comparison.wall_s);
  FolderFiles files(command.folder);
  files.text("comparison.json", to_json(comparison) + "\n");
  files.text("comparison.csv", to_csv(comparison));
  files.page("report.html", [&] { return report_page(comparison); });
  return files.publish();
}

Error none_runs(const PrecisionComparison& comparison) {
  return {.kind = ErrorKind::infeasible,
          .message = fmt::format("none of the {} recipes can run {}; {}: {}", comparison.rows.size(), comparison.model,
                                 comparison.rows.front().recipe, comparison.rows.front().failed),
          .place = comparison.hardware,
          .advice = "take another machine or a smaller batch, or other recipes"};
}

}  // namespace

int run(const PrecisionCommands& commands) {
  switch (commands.chosen) {
    case PrecisionCommands::Chosen::list: return run(commands.list);
    case PrecisionCommands::Chosen::show: return run(commands.show);
    case PrecisionCommands::Chosen::compare: break;
  }
  return run(commands.compare);
}

int run(const PrecisionListCommand& command) {
  const auto all = recipes();
  if (!all) return report(all.error());
  return command.common.json ? print_json(to_json(number_formats(), *all)) : print(to_text(number_formats(), *all));
}

int run(const PrecisionShowCommand& command) {
  const auto described = describe_precision(command.name);
  if (!described) return report(described.error());
  return command.common.json ? print_json(to_json(*described)) : print(to_text(*described));
}

int run(const PrecisionCompareCommand& command) {
  PrecisionComparisonOptions options = command.options;
  options.simulate.train = options.evaluate.train;
  if (command.simulate_batch) options.simulate.train.batch = command.simulate_batch;
  options.simulate.jobs = options.evaluate.jobs;
  options.evaluate.stop = options.simulate.stop = stop_on_interrupt();
  const bool watched = is_watched(command.common);
  if (watched) options.evaluate.progress = options.simulate.progress = show_progress;
  auto comparison = compare_precisions(command.model, {command.on.hardware, command.on.parameters}, options);
  if (watched) clear_progress();
  if (!comparison) return report(comparison.error());
  report(comparison->warnings, comparison->notes, command.common);
  if (const int status = write_files(*comparison, command); status != 0) return status;
  const bool none = std::ranges::none_of(comparison->rows, [](const PrecisionRow& row) { return row.failed.empty(); });
  if (command.common.json || !none) {
    const int status = command.common.json ? print_json(to_json(*comparison)) : print(to_text(*comparison));
    if (status != 0) return status;
  }
  return none ? report(none_runs(*comparison)) : 0;
}

}  // namespace monet::cli
