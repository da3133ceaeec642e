#include "cli/command.h"

namespace monet::cli {

int run(const ValidateCommand& command) {
  std::vector<std::string> names;
  if (!command.name.empty()) names.push_back(command.name);
  if (names.empty()) {
    for (const ValidationInfo& info : validations()) names.push_back(info.name);
  }
  std::vector<Validation> results;
  std::string text;
  for (const std::string& name : names) {
    auto validation = validate(name, command.data);
    if (!validation) return report(validation.error());
    text += (text.empty() ? "" : "\n") + to_text(*validation);
    results.push_back(*std::move(validation));
  }
  return print(command.common.json ? to_json(results) + "\n" : text);
}

}  // namespace monet::cli
