#include "cli/completion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace monet::cli {

std::string completion_text(const CommandReference& program, const std::string& shell) {
  if (shell == "fish") return fish_completion(program);
  return shell == "zsh" ? zsh_completion(program) : bash_completion(program);
}

std::string below_program(const CommandReference& command) {
  const std::size_t blank = command.path.find(' ');
  return blank == std::string::npos ? "" : command.path.substr(blank + 1);
}

std::string quoted_for_shell(std::string_view text) {
  std::string out = "'";
  for (const char c : text) c == '\'' ? out += "'\\''" : out += c;
  return out + "'";
}

std::vector<const CommandReference*> with_inner(const CommandReference& program) {
  std::vector<const CommandReference*> all;
  for (const CommandReference& command : program.commands) {
    all.push_back(&command);
    for (const CommandReference* inner : with_inner(command)) all.push_back(inner);
  }
  return all;
}

std::string value_cases(const CommandReference& command,
                        const std::function<std::string(const OptionReference&)>& offer) {
  std::string text;
  for (const OptionReference& option : command.options) {
    if (option.value.empty()) continue;
    std::vector<std::string> patterns;
    for (const std::string& name : option.names)
      patterns.push_back(quoted_for_shell(below_program(command) + ":" + name));
    text += fmt::format("    {}) {}; return ;;\n", fmt::join(patterns, "|"), offer(option));
  }
  return text;
}

std::string joined_words(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, " ")); }

bool takes_files(const Offered& offered) {
  return offered.offer != Offer::nothing && offered.offer != Offer::words && offered.offer != Offer::validations;
}

}  // namespace monet::cli
