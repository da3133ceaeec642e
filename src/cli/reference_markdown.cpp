#include "cli/reference.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

namespace monet::cli {

namespace {

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '|' || c == '*' || c == '_' || c == '<' || c == '[') out += '\\';
    out += c;
  }
  return out;
}

std::string anchor_of(const CommandReference& command) {
  std::string anchor = command.path;
  std::ranges::replace(anchor, ' ', '-');
  return anchor;
}

std::string name_cell(const OptionReference& option) {
  std::string cell =
      fmt::format("`{}{}`", fmt::join(option.names, "`, `"), option.value.empty() ? "" : " " + option.value);
  for (std::size_t at = cell.find('|'); at != std::string::npos; at = cell.find('|', at + 2)) cell.insert(at, "\\");
  return cell;
}

std::string rows_of(const std::vector<const OptionReference*>& options) {
  std::string text = "| option | meaning |\n|---|---|\n";
  for (const OptionReference* option : options)
    text += fmt::format("| {} | {} |\n", name_cell(*option), escaped(option_text(*option)));
  return text + "\n";
}

std::string usage_of(const CommandReference& command) {
  std::string usage = command.path;
  for (const OptionReference& option : command.options)
    if (option.required) usage += fmt::format(" {} {}", option.names.back(), option.value);
  for (const OptionReference& argument : command.arguments)
    usage += argument.required ? " " + argument.names.front() : " [" + argument.names.front() + "]";
  return usage + (command.options.size() > 1 ? " [OPTIONS]" : "");
}

class Page {
 public:
  std::string text(const CommandReference& program) {
    out_ =
        "# Commands and options\n\nThis page is written by `monet reference markdown`, from what `--help` shows.\n\n" +
        program.description + "\n\n";
    std::string group;
    for (const CommandReference& command : program.commands) {
      if (command.group != group) out_ += fmt::format("{}**{}**\n\n", group.empty() ? "" : "\n", command.group);
      group = command.group;
      out_ += fmt::format("- [`{}`](#{}): {}\n", command.path, anchor_of(command), escaped(command.description));
    }
    out_ += "\n";
    write_sections(program);
    for (const CommandReference& command : program.commands) write(command);
    for (const SectionReference& section : shared_) {
      out_ += fmt::format("## {}\n\n", section.title.substr(0, section.title.find(',')));
      write_lines(section);
    }
    out_.erase(out_.find_last_not_of('\n') + 2);
    return std::move(out_);
  }

 private:
  void write(const CommandReference& command) {
    out_ += fmt::format("## {}\n\n{}\n\n", command.path, escaped(command.description));
    if (command.commands.empty()) {
      out_ += fmt::format("```text\n{}\n```\n\n", usage_of(command));
      write_arguments(command);
      write_options(command);
    }
    write_sections(command);
    for (const CommandReference& each : command.commands) write(each);
  }

  void write_arguments(const CommandReference& command) {
    if (command.arguments.empty()) return;
    out_ += "| argument | meaning |\n|---|---|\n";
    for (const OptionReference& argument : command.arguments)
      out_ += fmt::format("| `{}` | {} |\n", argument.names.front(), escaped(option_text(argument)));
    out_ += "\n";
  }

  // A group that another command has too is told once.
  void write_options(const CommandReference& command) {
    for (const auto& [group, options] : groups_of(command)) {
      const std::string rows = rows_of(options);
      const auto [told, is_new] = told_.try_emplace(group + rows, &command);
      if (is_new) {
        out_ += (group == "Options" ? "" : fmt::format("*{}*\n\n", group)) + rows;
      } else {
        out_ += fmt::format("*{}*: as of [`{}`](#{}).\n\n", group, told->second->path, anchor_of(*told->second));
      }
    }
  }

  void write_sections(const CommandReference& command) {
    for (const SectionReference& section : command.sections) {
      if (section.title.starts_with("Built-in networks")) {
        if (std::ranges::find(shared_, section) == shared_.end()) shared_.push_back(section);
      } else if (section.title.empty()) {
        out_ += escaped(fmt::format("{}", fmt::join(section.lines, "\n"))) + "\n\n";
      } else {
        out_ += section.title + ":\n\n";
        write_lines(section);
      }
    }
  }

  void write_lines(const SectionReference& section) {
    out_ += "```text\n";
    for (const std::string& line : section.lines) out_ += (line.starts_with("  ") ? line.substr(2) : line) + "\n";
    out_ += "```\n\n";
  }

  std::string out_;
  std::map<std::string, const CommandReference*> told_;
  std::vector<SectionReference> shared_;
};

}  // namespace

std::string markdown_of(const CommandReference& program) { return Page().text(program); }

}  // namespace monet::cli
