#include "cli/command.h"
#include "cli/files.h"

#include <filesystem>
#include <ostream>

namespace monet::cli {

namespace {

int write_files(const Evaluation& evaluation, const EvaluateCommand& command) {
  const auto text = [&](const std::string& path, const auto& text_of) {
    return write_file(path, [&](std::ostream& out) { out << text_of(); });
  };
  const auto csv = [&] { return to_csv(evaluation); };
  const auto lifetimes = [&] { return to_lifetimes_csv(evaluation); };
  const auto plan = [&] { return evaluation.plan_yaml; };
  const auto trace = [&](std::ostream& out) { write_trace(evaluation, out); };
  int status = text(command.csv, csv);
  if (status == 0) status = text(command.lifetimes, lifetimes);
  if (status == 0) status = text(command.plan, plan);
  if (status == 0) status = write_file(command.trace, trace);
  if (status != 0 || command.folder.empty()) return status;

  const std::filesystem::path folder(command.folder);
  status = make_folder(command.folder);
  if (status != 0) return status;
  status = text(folder / "result.json", [&] { return to_json(evaluation) + "\n"; });
  if (status == 0) status = text(folder / "operators.csv", csv);
  if (status == 0) status = text(folder / "lifetimes.csv", lifetimes);
  if (status == 0) status = text(folder / "plan.yaml", plan);
  return status == 0 ? write_file(folder / "trace.json", trace) : status;
}

}  // namespace

int run(const EvaluateCommand& command) {
  EvaluateOptions options = command.options;
  options.trace = !command.trace.empty() || !command.folder.empty();
  options.lifetimes = !command.lifetimes.empty() || !command.folder.empty();
  const bool watched = is_watched(command.common);
  if (watched) options.progress = show_progress;
  const auto evaluation = evaluate_network(command.model, options);
  if (watched) clear_progress();
  if (!evaluation) return report(evaluation.error());
  report(evaluation->warnings, evaluation->notes, command.common);
  if (const int status = write_files(*evaluation, command); status != 0) return status;
  const int status = print(command.common.json ? to_json(*evaluation) + "\n" : to_text(*evaluation, command.view));
  if (status != 0) return status;
  return evaluation->fits ? 0 : 2;
}

}  // namespace monet::cli
