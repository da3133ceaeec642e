#include "cli/completion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace monet::cli {

namespace {

// When a command's words come next: "monet hardware" wants one of its own, "monet hardware show" is complete.
std::string condition_of(const CommandReference& command) {
  std::vector<std::string> seen;
  std::string path = below_program(command);
  for (std::size_t begin = 0; begin < path.size();) {
    const std::size_t end = std::min(path.find(' ', begin), path.size());
    seen.push_back("__fish_seen_subcommand_from " + path.substr(begin, end - begin));
    begin = end + 1;
  }
  std::vector<std::string> inner;
  for (const CommandReference& each : command.commands) inner.push_back(each.name);
  if (seen.empty()) return "__fish_use_subcommand";
  if (!inner.empty()) seen.push_back("not __fish_seen_subcommand_from " + joined_words(inner));
  return fmt::format("{}", fmt::join(seen, "; and "));
}

std::string fish_offer(const Offered& offered) {
  std::string text = takes_files(offered) ? " -r -F" : " -x";
  if (!offered.words.empty()) text += " -a " + quoted_for_shell(joined_words(offered.words));
  return text;
}

std::string option_line(const std::string& start, const OptionReference& option) {
  std::string text = start;
  for (const std::string& name : option.names)
    text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  if (!option.value.empty()) text += fish_offer(option.offered);
  return text + " -d " + quoted_for_shell(option.description) + "\n";
}

std::string lines_for(const CommandReference& command) {
  const std::string start = "complete -c monet -n " + quoted_for_shell(condition_of(command));
  std::string text;
  for (const CommandReference& inner : command.commands)
    text += fmt::format("{} -a {} -d {}\n", start, inner.name, quoted_for_shell(inner.description));
  for (const OptionReference& option : command.options) text += option_line(start, option);
  if (command.arguments.empty()) return text;
  const Offered& offered = command.arguments.front().offered;
  if (takes_files(offered)) text += start + " -F\n";
  if (!offered.words.empty()) text += start + " -a " + quoted_for_shell(joined_words(offered.words)) + "\n";
  return text;
}

}  // namespace

std::string fish_completion(const CommandReference& program) {
  std::string text = "# Completion of monet in fish, written by `monet completion fish`.\ncomplete -c monet -f\n";
  text += lines_for(program);
  for (const CommandReference* command : with_inner(program)) text += lines_for(*command);
  return text;
}

}  // namespace monet::cli
