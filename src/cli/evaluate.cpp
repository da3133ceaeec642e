#include "cli/command.h"
#include "cli/files.h"

#include <limits>
#include <ostream>

namespace monet::cli {

namespace {

// Tiles or launches of a step that is evaluated again within a blink.
constexpr std::int64_t quick_step = 1000;

// What -o writes, with names of its own.
int write_folder(Evaluation& evaluation, const std::string& folder) {
  const WithoutTime same(evaluation.wall_s);
  FolderFiles files(folder);
  files.text("details.json", to_details(evaluation));
  files.text("operators.csv", to_csv(evaluation));
  files.text("lifetimes.csv", to_lifetimes_csv(evaluation));
  files.text("plan.yaml", evaluation.plan_yaml);
  files.file("trace.json", [&](std::ostream& out) { write_trace(evaluation, out); });
  files.file("chakra.et", [&](std::ostream& out) { write_chakra(evaluation, out); });
  files.text("result.json", to_json(evaluation) + "\n");
  files.page("report.html", [&] { return report_page(evaluation); });
  return files.publish();
}

int write_files(Evaluation& evaluation, const EvaluateCommand& command) {
  int status = write_file(command.csv, [&](std::ostream& out) { out << to_csv(evaluation); });
  if (status == 0)
    status = write_file(command.lifetimes, [&](std::ostream& out) { out << to_lifetimes_csv(evaluation); });
  if (status == 0) status = write_text(command.plan, evaluation.plan_yaml);
  if (status == 0) status = write_file(command.trace, [&](std::ostream& out) { write_trace(evaluation, out); });
  if (status == 0) status = write_file(command.chakra, [&](std::ostream& out) { write_chakra(evaluation, out); });
  return status != 0 || command.folder.empty() ? status : write_folder(evaluation, command.folder);
}

}  // namespace

int run(const EvaluateCommand& command) {
  StepRequest options = command.options;
  if (const Status read = command.on.put_into(options); !read) return report(read.error());
  const bool everything = !command.folder.empty();
  options.trace = everything || !command.trace.empty() || !command.chakra.empty();
  options.lifetimes = everything || !command.lifetimes.empty() || !command.chakra.empty();
  options.graph = everything || !command.chakra.empty();
  if (command.suggest) {
    options.suggest_up_to = std::numeric_limits<std::int64_t>::max();
  } else if (everything || (!command.common.json && !command.common.quiet)) {
    options.suggest_up_to = quick_step;
  }
  const bool watched = is_watched(command.common);
  if (watched) options.progress = show_progress;
  auto evaluation = evaluate_network(command.model, options);
  if (watched) clear_progress();
  if (!evaluation) return report(evaluation.error());
  report(evaluation->warnings, evaluation->notes, command.common);
  if (const int status = write_files(*evaluation, command); status != 0) return status;
  const int status = command.common.json ? print_json(to_json(*evaluation)) : print(to_text(*evaluation, command.view));
  if (status != 0) return status;
  return evaluation->fits ? 0 : 2;
}

}  // namespace monet::cli
