#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/progress.h"

namespace monet::cli {

int run(const ValidateCommand& command) {
  std::vector<std::string> names;
  if (!command.name.empty()) names.push_back(command.name);
  if (names.empty()) {
    for (const ValidationInfo& info : validations()) {
      if (!info.slow) names.push_back(info.name);
    }
  }
  ValidateOptions options = command.options;
  options.stop = stop_on_interrupt();
  if (is_watched(command.common)) options.progress = show_progress;
  std::vector<Validation> results;
  std::vector<std::string> left_out;
  Text text;
  for (const std::string& name : names) {
    if (options.stop()) break;
    if (const auto missing = missing_data(name, options); missing && command.name.empty()) {
      left_out.push_back(name + " is left out: " + missing->text());
      continue;
    }
    if (options.progress) options.progress("validating " + name, results.size(), names.size());
    auto validation = validate(name, options);
    clear_progress();
    if (!validation) return report(validation.error());
    text += Text(text.empty() ? "" : "\n") + to_text(*validation);
    results.push_back(*std::move(validation));
  }
  const bool ended_early = options.stop();
  const int status = command.common.json ? print_json(to_json(results)) : print(text);
  if (ended_early) left_out.push_back("ended early: these are the rows so far");
  report({}, left_out, command.common);
  return status;
}

}  // namespace monet::cli
