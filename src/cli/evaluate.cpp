#include "cli/command.h"
#include "cli/files.h"
#include "cli/pages.h"

#include <filesystem>
#include <ostream>

namespace monet::cli {

namespace {

// What -o writes, with names of its own.
int write_folder(const Evaluation& evaluation, const std::filesystem::path& folder) {
  using Write = std::function<void(std::ostream&)>;
  const std::pair<const char*, Write> files[] = {
      {"details.json", [&](std::ostream& out) { out << to_details(evaluation); }},
      {"operators.csv", [&](std::ostream& out) { out << to_csv(evaluation); }},
      {"lifetimes.csv", [&](std::ostream& out) { out << to_lifetimes_csv(evaluation); }},
      {"plan.yaml", [&](std::ostream& out) { out << evaluation.plan_yaml; }},
      {"trace.json", [&](std::ostream& out) { write_trace(evaluation, out); }},
      {"chakra.et", [&](std::ostream& out) { write_chakra(evaluation, out); }}};
  int status = make_folder(folder);
  for (const auto& [name, write] : files) {
    if (status == 0) status = write_file(folder / name, write);
  }
  if (status != 0) return status;
  return write_result(folder, to_json(evaluation), [&] { return report_page(evaluation); });
}

int write_files(const Evaluation& evaluation, const EvaluateCommand& command) {
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
  EvaluateOptions options = command.options;
  const bool everything = !command.folder.empty();
  options.trace = everything || !command.trace.empty() || !command.chakra.empty();
  options.lifetimes = everything || !command.lifetimes.empty() || !command.chakra.empty();
  options.graph = everything || !command.chakra.empty();
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
