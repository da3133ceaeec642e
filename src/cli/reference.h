// Commands and options as data, from the same tables as --help: for the reference, the manual and the shells.
#pragma once

#include "cli/offered.h"

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace monet::cli {

struct OptionReference {
  std::vector<std::string> names;  // "-o", "--output"; an argument's own: "MODEL"
  std::string value;               // "FILE"; empty: a flag
  std::string default_value;
  std::string group, description;
  bool required = false;
  Offered offered;
};

// A piece of text below the options: "Examples", with lines; or a paragraph without a title.
struct SectionReference {
  std::string title;
  std::vector<std::string> lines;
  friend bool operator==(const SectionReference&, const SectionReference&) = default;
};

struct CommandReference {
  std::string name, path;  // "show", "monet hardware show"
  std::string group, description;
  std::vector<OptionReference> arguments, options;
  std::vector<SectionReference> sections;
  std::vector<CommandReference> commands;
};

CommandReference reference_of(CLI::App& app);

// All commands that do something themselves, in order: "hardware show" and not "hardware".
std::vector<const CommandReference*> leaves_of(const CommandReference& program);

// Of options: groups in the order in which they come.
std::vector<std::pair<std::string, std::vector<const OptionReference*>>> groups_of(const CommandReference& command);

// What it means, whether it must be there, and what it is otherwise.
std::string option_text(const OptionReference& option);

// `format`: markdown, man.
std::string reference_text(const CommandReference& program, const std::string& format);
std::string markdown_of(const CommandReference& program);
std::string manual_of(const CommandReference& program);

}  // namespace monet::cli
