// The manual page, in the macros of man(7).
#include "cli/reference.h"

#include <monet/version.h>

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace monet::cli {

namespace {

// Nothing that roff would take for a request, a dash to be broken or an escape; anything beyond ASCII by its number.
std::string roff(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x80) {
      if ((byte == '.' || byte == '\'') && (i == 0 || text[i - 1] == '\n')) out += "\\&";
      switch (byte) {
        case '\\': out += "\\e"; break;
        case '-': out += "\\-"; break;
        case '~': out += "\\(ti"; break;
        case '^': out += "\\(ha"; break;
        case '`': out += "\\(ga"; break;
        case '\'': out += "\\(aq"; break;
        default: out += text[i];
      }
      continue;
    }
    const std::size_t length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    std::uint32_t point = byte & (0x7fU >> length);
    for (std::size_t k = 1; k < length && i + 1 < text.size(); ++k)
      point = point << 6 | (static_cast<unsigned char>(text[++i]) & 0x3fU);
    out += fmt::format("\\[u{:04X}]", point);
  }
  return out;
}

std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  return text;
}

std::string bold(const std::string& text) { return "\\fB" + roff(text) + "\\fR"; }
std::string slanted(const std::string& text) { return "\\fI" + roff(text) + "\\fR"; }

std::string option_entry(const OptionReference& option, bool argument) {
  std::string names;
  for (const std::string& name : option.names)
    names += (names.empty() ? "" : ", ") + (argument ? slanted(name) : bold(name));
  if (!option.value.empty()) names += " " + slanted(option.value);
  return fmt::format(".TP\n{}\n{}\n", names, roff(option_text(option)));
}

std::string examples_of(const std::vector<std::string>& lines) {
  std::string text = ".nf\n.RS 4\n";
  for (const std::string& line : lines) text += roff(line.starts_with("  ") ? line.substr(2) : line) + "\n";
  return text + ".RE\n.fi\n";
}

class Manual {
 public:
  std::string text(const CommandReference& program) {
    out_ = fmt::format(
        ".\\\" Written by `monet reference man`.\n.TH MONET 1 \"\" \"monet {}\" \"MONET manual\"\n.SH NAME\nmonet \\- "
        "training of neural networks on accelerators: time, energy, memory, plans, hardware\n.SH SYNOPSIS\n.B "
        "monet\n.I "
        "COMMAND\n.RI [ ARGUMENTS ]\n.SH DESCRIPTION\n{}\n.PP\n.B monet\n.I COMMAND\n.B \\-\\-help\nshows what a "
        "command takes.\n",
        version, roff(program.description));
    std::string group;
    for (const CommandReference& command : program.commands) {
      if (command.group != group) out_ += fmt::format(".SS {}\n", roff(command.group));
      group = command.group;
      out_ += fmt::format(".TP\n{}\n{}\n", bold(command.name), roff(command.description));
    }
    out_ += ".SH COMMANDS\n";
    for (const CommandReference* command : leaves_of(program)) write(*command);
    for (const SectionReference& section : shared_) {
      out_ += fmt::format(".SH {}\n{}", upper(roff(section.title.substr(0, section.title.find(',')))),
                          examples_of(section.lines));
    }
    for (const SectionReference& section : program.sections)
      out_ += fmt::format(".SH {}\n{}", upper(roff(section.title)), examples_of(section.lines));
    out_ +=
        ".SH ENVIRONMENT\n.TP\n.B NO_COLOR\nIf set and not empty, nothing is coloured unless\n.B \\-\\-color\nsays "
        "so.\n.TP\n.B COLUMNS\nThe width of the terminal, where it is not the one to be taken.\n.TP\n.B "
        "MONET_PYTHON\nThe Python that runs the workers of\n.BR \"monet explore \\-\\-cluster\" .\n";
    return std::move(out_);
  }

 private:
  void write(const CommandReference& command) {
    out_ += fmt::format(".SS {}\n{}\n", roff(command.path), roff(command.description));
    for (const OptionReference& argument : command.arguments) out_ += option_entry(argument, true);
    for (const auto& [group, options] : groups_of(command)) {
      std::string entries;
      for (const OptionReference* option : options) entries += option_entry(*option, false);
      const auto [told, is_new] = told_.try_emplace(group + entries, command.path);
      const std::string heading = group == "Options" ? "" : fmt::format(".PP\n{}\n", slanted(group));
      out_ += is_new ? heading + entries : fmt::format(".PP\n{}: as of {}.\n", slanted(group), bold(told->second));
    }
    for (const SectionReference& section : command.sections) {
      if (section.title.starts_with("Built-in networks")) {
        if (std::ranges::find(shared_, section) == shared_.end()) shared_.push_back(section);
      } else if (section.title.empty()) {
        out_ += ".PP\n";
        for (const std::string& line : section.lines) out_ += roff(line) + "\n";
      } else {
        out_ += fmt::format(".PP\n{}:\n", roff(section.title)) + examples_of(section.lines);
      }
    }
  }

  std::string out_;
  std::map<std::string, std::string> told_;
  std::vector<SectionReference> shared_;
};

}  // namespace

std::string manual_of(const CommandReference& program) { return Manual().text(program); }

}  // namespace monet::cli
