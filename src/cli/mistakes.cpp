#include "cli/mistakes.h"

#include "base/suggest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace monet::cli {

namespace {

std::vector<const CLI::App*> subcommands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

std::vector<std::string> options_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

bool contains(const std::vector<std::string>& words, const std::string& word) {
  return std::ranges::find(words, word) != words.end();
}

// `words`: the commands before the arguments.
std::string explain(const CLI::App& app, const CLI::ParseError& error, const std::vector<std::string>& arguments,
                    const std::string& words) {
  std::vector<std::string> commands;
  for (const CLI::App* command : subcommands_of(app)) commands.push_back(command->get_name());
  if (arguments.empty()) return fmt::format("a command is missing (try {} --help)", words);
  if (!arguments[0].starts_with("-") && !contains(commands, arguments[0])) {
    const std::string guess = nearest(arguments[0], commands);
    return fmt::format("there is no command '{}' ({})", arguments[0],
                       guess.empty() ? fmt::format("commands are {}", fmt::join(commands, ", "))
                                     : fmt::format("did you mean '{}'?", guess));
  }
  const CLI::App* chosen = app.get_subcommands().empty() ? &app : app.get_subcommands().front();
  const std::string path = chosen == &app ? words : words + " " + arguments[0];
  if (chosen != &app && !subcommands_of(*chosen).empty())
    return explain(*chosen, error, {arguments.begin() + 1, arguments.end()}, path);
  const std::vector<std::string> options = options_of(*chosen);
  for (const std::string& argument : arguments) {
    const std::string name = argument.substr(0, argument.find('='));
    if (!name.starts_with("-") || name.size() < 2 || contains(options, name)) continue;
    if (name[1] >= '0' && name[1] <= '9') continue;
    const std::string guess = name.size() > 2 ? nearest(name, options) : "";  // one letter is near every other
    return fmt::format("there is no option '{}' ({})", name,
                       guess.empty() ? fmt::format("try {} --help", path) : fmt::format("did you mean '{}'?", guess));
  }
  const std::string what = error.what();
  return what.ends_with(")") ? what : fmt::format("{} (try {} --help)", what, path);
}

}  // namespace

std::string explain(const CLI::App& app, const CLI::ParseError& error, const std::vector<std::string>& arguments) {
  return explain(app, error, arguments, "monet");
}

}  // namespace monet::cli
