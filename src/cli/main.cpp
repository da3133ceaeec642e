// The program `monet`: reads the arguments and calls the command.
#include "cli/command.h"

#include <monet/version.h>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

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
  const bool valid =
      equals != std::string::npos && equals > 0 && CLI::detail::lexical_cast(text.substr(equals + 1), size);
  if (!valid)
    throw CLI::ValidationError("--dim", fmt::format("'{}' is not NAME=NUMBER, as in --dim sequence=128", text));
  return {text.substr(0, equals), size};
}

void add_common(CLI::App& command, CommonOptions& common) {
  command.add_flag("--json", common.json, "print one JSON object and nothing else");
  command.add_flag("-q,--quiet", common.quiet, "leave out notes");
  command.add_flag("-v,--verbose", common.verbose, "show all warnings and notes");
}

void add_model(CLI::App& command, std::string& model, InspectOptions& options) {
  command.add_option("MODEL", model, "an ONNX file or a built-in network (listed below)")->required();
  command.add_option("--batch", options.batch, "size of the batch: the first axis of the inputs")->type_name("N");
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

int run_program(int argc, char** argv) {
  CLI::App app("MONET: how long a training step of a network takes on an accelerator, with what energy and memory.",
               "monet");
  app.set_version_flag("--version", fmt::format("monet {}", version));
  app.require_subcommand(1);
  app.set_help_all_flag("--help-all", "help of all commands");
  InspectCommand inspect_command;
  add_inspect(app, inspect_command);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    return app.exit(help);
  } catch (const CLI::CallForAllHelp& help) {
    return app.exit(help);
  } catch (const CLI::CallForVersion& call) {
    return app.exit(call);
  } catch (const CLI::ParseError& error) {
    fmt::print(stderr, "monet: {} (try monet {}--help)\n", error.what(),
               app.get_subcommands().empty() ? "" : "inspect ");
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
