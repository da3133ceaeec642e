#include "cli/completion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace monet::cli {

namespace {

// What is offered for one value.
std::string bash_offer(const Offered& offered) {
  std::string text;
  if (!offered.words.empty())
    text += fmt::format("COMPREPLY+=($(compgen -W {} -- \"$cur\"))", quoted_for_shell(joined_words(offered.words)));
  if (takes_files(offered)) {
    text += fmt::format("{}_monet_files {}", text.empty() ? "" : "; ", offered.offer == Offer::folders ? "-d" : "-f");
  }
  return text.empty() ? ":" : text;
}

std::string names_of_options(const CommandReference& command) {
  std::vector<std::string> names;
  for (const OptionReference& option : command.options)
    names.insert(names.end(), option.names.begin(), option.names.end());
  return quoted_for_shell(joined_words(names));
}

std::string bash_words(const CommandReference& command) {
  std::vector<std::string> names;
  for (const CommandReference& inner : command.commands) names.push_back(inner.name);
  if (!names.empty())
    return fmt::format("COMPREPLY=($(compgen -W {} -- \"$cur\"))", quoted_for_shell(joined_words(names)));
  return command.arguments.empty() ? ":" : bash_offer(command.arguments.front().offered);
}

}  // namespace

std::string bash_completion(const CommandReference& program) {
  const auto commands = with_inner(program);
  std::vector<std::string> steps;
  std::string values, options, words;
  const auto add = [&](const CommandReference& command) {
    const std::string path = quoted_for_shell(below_program(command));
    values += value_cases(command, [](const OptionReference& option) { return bash_offer(option.offered); });
    options += fmt::format("      {}) COMPREPLY=($(compgen -W {} -- \"$cur\")) ;;\n", path, names_of_options(command));
    words += fmt::format("    {}) {} ;;\n", path, bash_words(command));
  };
  add(program);
  for (const CommandReference* command : commands) {
    const std::string path = below_program(*command);
    const std::size_t blank = path.rfind(' ');
    steps.push_back(quoted_for_shell(blank == std::string::npos ? " " + path : path));
    add(*command);
  }
  return fmt::format(
      R"(# Completion of monet in bash, written by `monet completion bash`.
_monet_files() {{
  local IFS=$'\n'
  compopt -o filenames 2>/dev/null
  COMPREPLY+=($(compgen "$1" -- "$cur"))
}}

_monet() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}} command="" i
  COMPREPLY=()
  if [[ $cur == "=" ]]; then cur=""; elif [[ $prev == "=" ]]; then prev=${{COMP_WORDS[COMP_CWORD-2]}}; fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$command ${{COMP_WORDS[i]}}" in
      {}) command="${{command:+$command }}${{COMP_WORDS[i]}}" ;;
    esac
  done
  case "$command:$prev" in
{}  esac
  if [[ $cur == -* ]]; then
    case "$command" in
{}    esac
    return
  fi
  case "$command" in
{}  esac
}}
complete -F _monet monet
)",
      fmt::join(steps, "|"), values, options, words);
}

}  // namespace monet::cli
