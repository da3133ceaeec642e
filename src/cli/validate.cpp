#include "cli/command.h"

#include <unistd.h>

#include <fmt/format.h>

#include <cstdio>

namespace monet::cli {

namespace {

// Progress is for people who watch.
void show_progress(const std::string& what, std::size_t done, std::size_t all) {
  fmt::print(stderr, "\r{} of {}: {}\033[K", done, all, what);
  std::fflush(stderr);
}

}  // namespace

int run(const ValidateCommand& command) {
  std::vector<std::string> names;
  if (!command.name.empty()) names.push_back(command.name);
  if (names.empty()) {
    for (const ValidationInfo& info : validations()) {
      if (!info.slow) names.push_back(info.name);
    }
  }
  ValidateOptions options = command.options;
  const bool watched = !command.common.quiet && isatty(STDERR_FILENO) != 0;
  if (watched) options.progress = show_progress;
  std::vector<Validation> results;
  std::string text;
  for (const std::string& name : names) {
    auto validation = validate(name, options);
    if (watched) fmt::print(stderr, "\r\033[K");
    if (!validation) return report(validation.error());
    text += (text.empty() ? "" : "\n") + to_text(*validation);
    results.push_back(*std::move(validation));
  }
  return print(command.common.json ? to_json(results) + "\n" : text);
}

}  // namespace monet::cli
