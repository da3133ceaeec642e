// The program `monet`: reads the arguments and calls the command.
#include "base/suggest.h"
#include "cli/command.h"

#include <monet/version.h>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <exception>
#include <new>

namespace {

using namespace monet;
using namespace monet::cli;

// "NAME=NUMBER"
std::pair<std::string, std::int64_t> parse_dimension(const std::string& text) {
  const auto equals = text.find('=');
  std::int64_t size = 0;
  const char* const end = text.data() + text.size();
  const bool named = equals != std::string::npos && equals > 0;
  const auto read = std::from_chars(named ? text.data() + equals + 1 : end, end, size);
  if (read.ec != std::errc() || read.ptr != end)
    throw CLI::ValidationError("--dim", fmt::format("'{}' is not NAME=NUMBER, as in --dim sequence=128", text));
  return {text.substr(0, equals), size};
}

// Empty, or what is wrong with it.
std::string check_whole_number(const std::string& text) {
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  if (read.ec == std::errc::result_out_of_range) return fmt::format("{} is out of range", text);
  return read.ec == std::errc() && read.ptr == end ? "" : fmt::format("'{}' is not a whole number", text);
}

void add_common(CLI::App& command, CommonOptions& common) {
  command.add_flag("--json", common.json, "print one JSON object and nothing else");
  command.add_flag("-q,--quiet", common.quiet, "leave out notes");
  command.add_flag("-v,--verbose", common.verbose, "show all warnings and notes");
}

void add_model(CLI::App& command, std::string& model, InspectOptions& options) {
  command.add_option("MODEL", model, "an ONNX file or a built-in network (listed below)")->required();
  command.add_option("--batch", options.batch, "size of the batch: the first axis of the inputs")
      ->type_name("N")
      ->check(check_whole_number);
  command
      .add_option_function<std::vector<std::string>>(
          "--dim",
          [&options](const std::vector<std::string>& texts) {
            for (const std::string& text : texts) options.dimensions.push_back(parse_dimension(text));
          },
          "size of a symbolic dimension; may be given several times")
      ->type_name("NAME=N")
      ->allow_extra_args(false);
}

void add_inspect(CLI::App& app, InspectCommand& command) {
  CLI::App* inspect = app.add_subcommand("inspect", "what a network computes: parameters, MACs, operations, tensors");
  add_model(*inspect, command.model, command.options);
  inspect->add_flag("--layers", command.layers, "a line for each layer");
  add_common(*inspect, command.common);
  inspect->footer(
      "Examples:\n"
      "  monet inspect resnet18\n"
      "  monet inspect gpt2:layers=2,width=384,heads=6 --batch 8\n"
      "  monet inspect net.onnx --dim sequence=128 --layers\n"
      "  monet inspect net.onnx --json > net.json\n\n" +
      network_help());
}

// What the arguments got wrong, with the nearest right word where one is near.
std::string explain(const CLI::App& app, const CLI::ParseError& error, const std::vector<std::string>& arguments) {
  std::vector<std::string> commands;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    commands.push_back(command->get_name());
  if (!arguments.empty() && !arguments[0].starts_with("-") &&
      std::ranges::find(commands, arguments[0]) == commands.end()) {
    const std::string guess = nearest(arguments[0], commands);
    return fmt::format("there is no command '{}' ({})", arguments[0],
                       guess.empty() ? fmt::format("commands are {}", fmt::join(commands, ", "))
                                     : fmt::format("did you mean '{}'?", guess));
  }
  if (arguments.empty()) return "a command is missing (try monet --help)";
  const CLI::App* chosen = app.get_subcommands().empty() ? &app : app.get_subcommands().front();
  std::vector<std::string> options;
  for (const CLI::Option* option : chosen->get_options()) {
    for (const std::string& name : option->get_lnames()) options.push_back("--" + name);
    for (const std::string& name : option->get_snames()) options.push_back("-" + name);
  }
  for (const std::string& argument : arguments) {
    const std::string name = argument.substr(0, argument.find('='));
    if (!name.starts_with("-") || name.size() < 2 || std::ranges::find(options, name) != options.end()) continue;
    if (name[1] >= '0' && name[1] <= '9') continue;
    const std::string guess = name.size() > 2 ? nearest(name, options) : "";  // one letter is near every other
    return fmt::format(
        "there is no option '{}' ({})", name,
        guess.empty() ? fmt::format("try monet {} --help", arguments[0]) : fmt::format("did you mean '{}'?", guess));
  }
  return fmt::format("{} (try monet {} --help)", error.what(), arguments[0]);
}

int run_program(int argc, char** argv) {
  CLI::App app("MONET: how long a training step of a network takes on an accelerator, with what energy and memory.",
               "monet");
  app.set_version_flag("--version", fmt::format("monet {}", version));
  app.require_subcommand(1);
  InspectCommand inspect_command;
  add_inspect(app, inspect_command);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& answered) {
    return app.exit(answered);  // --help, --version
  } catch (const CLI::ParseError& error) {
    fmt::print(stderr, "monet: {}\n", explain(app, error, {argv + 1, argv + argc}));
    return 1;
  }
  return run(inspect_command);
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return run_program(argc, argv);
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "monet: there is not enough memory for this\n");
    return 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "monet: internal error, please report it: {}\n", error.what());
    return 3;
  }
}
