#include "cli/completion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace monet::cli {

namespace {

std::string zsh_offer(const Offered& offered, const std::string& value) {
  std::string text;
  if (!offered.words.empty()) text += "compadd -- " + joined_words(offered.words);
  if (takes_files(offered))
    text += fmt::format("{}_files{}", text.empty() ? "" : "; ", offered.offer == Offer::folders ? " -/" : "");
  return text.empty() ? "_message " + quoted_for_shell(value) : text;
}

// 'name:what it means'
std::string described(const std::string& name, const std::string& meaning) {
  std::string escaped;
  for (const char c : name) c == ':' ? escaped += "\\:" : escaped += c;
  return quoted_for_shell(escaped + ":" + meaning);
}

std::string options_of(const CommandReference& command) {
  std::vector<std::string> names;
  for (const OptionReference& option : command.options)
    for (const std::string& name : option.names) names.push_back(described(name, option.description));
  return fmt::format("names=({})", fmt::join(names, " "));
}

std::string zsh_words(const CommandReference& command) {
  if (!command.commands.empty()) {
    std::vector<std::string> names;
    for (const CommandReference& inner : command.commands) names.push_back(described(inner.name, inner.description));
    return fmt::format("names=({}); _describe command names", fmt::join(names, " "));
  }
  return command.arguments.empty() ? ":"
                                   : zsh_offer(command.arguments.front().offered, command.arguments.front().names[0]);
}

}  // namespace

std::string zsh_completion(const CommandReference& program) {
  std::vector<std::string> steps;
  std::string values, options, words;
  const auto add = [&](const CommandReference& command) {
    const std::string path = quoted_for_shell(below_program(command));
    values +=
        value_cases(command, [](const OptionReference& option) { return zsh_offer(option.offered, option.value); });
    options += fmt::format("      {}) {} ;;\n", path, options_of(command));
    words += fmt::format("    {}) {} ;;\n", path, zsh_words(command));
  };
  add(program);
  for (const CommandReference* command : with_inner(program)) {
    const std::string path = below_program(*command);
    steps.push_back(quoted_for_shell(path.find(' ') == std::string::npos ? " " + path : path));
    add(*command);
  }
  return fmt::format(
      R"(#compdef monet
# Completion of monet in zsh, written by `monet completion zsh`.
_monet() {{
  local command="" i
  local -a names
  for ((i = 2; i < CURRENT; i++)); do
    case "$command ${{words[i]}}" in
      {}) command="${{command:+$command }}${{words[i]}}" ;;
    esac
  done
  case "$command:${{words[CURRENT-1]}}" in
{}  esac
  if [[ ${{words[CURRENT]}} == -* ]]; then
    case "$command" in
{}    esac
    _describe -o option names
    return
  fi
  case "$command" in
{}  esac
}}
if [[ ${{funcstack[1]}} == _monet ]]; then _monet "$@"; else compdef _monet monet; fi
)",
      fmt::join(steps, "|"), values, options, words);
}

}  // namespace monet::cli
