#include "cli/reference.h"

#include "cli/words.h"
#include "present/text/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace monet::cli {

namespace {

// The parser's words for types, in ours.
std::string value_name(const std::string& type) {
  static const std::map<std::string, std::string> ours = {
      {"INT", "N"}, {"UINT", "N"}, {"FLOAT", "X"}, {"TEXT", "WORD"}};
  const auto found = ours.find(type);
  return found == ours.end() ? type : found->second;
}

// "H" of "H", "N" of "N:INT in [1 - 12]".
std::string value_of(const CLI::Option& option) {
  if (option.get_type_size_max() == 0 || option.get_expected_max() == 0) return "";
  const std::string type = option.get_type_name();
  return value_name(type.substr(0, type.find(':')));
}

OptionReference described(CLI::Option& option) {
  OptionReference result;
  for (const std::string& name : option.get_snames()) result.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) result.names.push_back("--" + name);
  if (result.names.empty()) result.names.push_back(option.get_name());
  const bool argument = option.get_positional();
  result.value = argument ? "" : value_of(option);
  result.default_value = option.get_default_str();
  result.group = argument ? "" : option.get_group();
  result.description = option.get_description();
  result.required = option.get_required();
  result.offered = offered_by(option);
  return result;
}

std::vector<SectionReference> sections_of(const std::string& footer) {
  std::vector<SectionReference> sections;
  bool begun = false;
  for (const std::string_view line : lines_of(footer)) {
    if (line.empty()) {
      begun = false;
      continue;
    }
    const bool indented = line.front() == ' ';
    const bool heading = !indented && line.back() == ':';
    if (!begun || heading || (!indented && !sections.back().title.empty())) sections.emplace_back();
    begun = true;
    if (heading) {
      sections.back().title = line.substr(0, line.size() - 1);
    } else {
      sections.back().lines.emplace_back(line);
    }
  }
  return sections;
}

CommandReference described(CLI::App& app, const std::string& above) {
  CommandReference result{.name = app.get_name(),
                          .path = above.empty() ? app.get_name() : above + " " + app.get_name(),
                          .group = app.get_group(),
                          .description = app.get_description(),
                          .sections = sections_of(app.get_footer())};
  for (CLI::Option* option : app.get_options()) {
    OptionReference one = described(*option);
    (option->get_positional() ? result.arguments : result.options).push_back(std::move(one));
  }
  for (CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    result.commands.push_back(described(*command, result.path));
  return result;
}

void collect(const CommandReference& command, std::vector<const CommandReference*>& leaves) {
  if (command.commands.empty()) leaves.push_back(&command);
  for (const CommandReference& each : command.commands) collect(each, leaves);
}

}  // namespace

CommandReference reference_of(CLI::App& app) { return described(app, ""); }

std::vector<const CommandReference*> leaves_of(const CommandReference& program) {
  std::vector<const CommandReference*> leaves;
  collect(program, leaves);
  return leaves;
}

std::vector<std::pair<std::string, std::vector<const OptionReference*>>> groups_of(const CommandReference& command) {
  std::vector<std::pair<std::string, std::vector<const OptionReference*>>> groups;
  for (const OptionReference& option : command.options) {
    const auto same = std::ranges::find(groups, option.group, [](const auto& group) { return group.first; });
    if (same == groups.end()) {
      groups.push_back({option.group, {&option}});
    } else {
      same->second.push_back(&option);
    }
  }
  return groups;
}

std::string option_text(const OptionReference& option) {
  std::string text = option.description;
  if (option.required) text += text.empty() ? "required" : "; required";
  if (!option.default_value.empty()) text += fmt::format(" (default {})", option.default_value);
  return text;
}

std::string reference_text(const CommandReference& program, const std::string& format) {
  return format == "man" ? manual_of(program) : markdown_of(program);
}

}  // namespace monet::cli
