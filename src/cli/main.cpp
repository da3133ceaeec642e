// The program `monet`: reads the arguments and calls the command.
#include "base/suggest.h"
#include "cli/arguments.h"

#include <monet/version.h>

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <exception>
#include <new>

namespace {

using namespace monet;
using namespace monet::cli;

int run(const CLI::App& hardware, const HardwareCommands& commands) {
  if (hardware.got_subcommand("list")) return run(commands.list);
  if (hardware.got_subcommand("show")) return run(commands.show);
  if (hardware.got_subcommand("check")) return run(commands.check);
  return run(commands.import);
}

// What the arguments got wrong, with the nearest right word where one is near. `words` are the commands before them.
std::string explain(const CLI::App& app, const CLI::ParseError& error, const std::vector<std::string>& arguments,
                    const std::string& words = "monet") {
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
  if (arguments.empty()) return fmt::format("a command is missing (try {} --help)", words);
  const CLI::App* chosen = app.get_subcommands().empty() ? &app : app.get_subcommands().front();
  if (chosen != &app && !chosen->get_subcommands([](const CLI::App*) { return true; }).empty())
    return explain(*chosen, error, {arguments.begin() + 1, arguments.end()}, words + " " + arguments[0]);
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
    return fmt::format("there is no option '{}' ({})", name,
                       guess.empty() ? fmt::format("try {} {} --help", words, arguments[0])
                                     : fmt::format("did you mean '{}'?", guess));
  }
  return fmt::format("{} (try {} {} --help)", error.what(), words, arguments[0]);
}

int run_program(int argc, char** argv) {
  CLI::App app("MONET: how long a training step of a network takes on an accelerator, with what energy and memory.",
               "monet");
  app.set_version_flag("--version", fmt::format("monet {}", version));
  app.require_subcommand(1);
  InspectCommand inspect_command;
  TrainCommand train_command;
  add_inspect(app, inspect_command);
  ValidateCommand validate_command;
  add_train(app, train_command);
  HardwareCommands hardware_commands;
  add_hardware(app, hardware_commands);
  MapCommand map_command;
  add_map(app, map_command);
  EvaluateCommand evaluate_command;
  add_evaluate(app, evaluate_command);
  CheckpointCommand checkpoint_command;
  add_checkpoint(app, checkpoint_command);
  FuseCommand fuse_command;
  add_fuse(app, fuse_command);
  OptimizeCommand optimize_command;
  add_optimize(app, optimize_command);
  ExploreCommand explore_command;
  add_explore(app, explore_command);
  PackCommand pack_command;
  add_pack(app, pack_command);
  RematCommand remat_command;
  add_remat(app, remat_command);
  add_validate(app, validate_command);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& answered) {
    return app.exit(answered);  // --help, --version
  } catch (const CLI::ParseError& error) {
    fmt::print(stderr, "monet: {}\n", explain(app, error, {argv + 1, argv + argc}));
    return 1;
  }
  if (app.got_subcommand("train")) return run(train_command);
  if (app.got_subcommand("hardware")) return run(*app.get_subcommand("hardware"), hardware_commands);
  if (app.got_subcommand("map")) return run(map_command);
  if (app.got_subcommand("evaluate")) return run(evaluate_command);
  if (app.got_subcommand("checkpoint")) return run(checkpoint_command);
  if (app.got_subcommand("fuse")) return run(fuse_command);
  if (app.got_subcommand("optimize")) return run(optimize_command);
  if (app.got_subcommand("explore")) return run(explore_command);
  if (app.got_subcommand("pack")) return run(pack_command);
  if (app.got_subcommand("remat")) return run(remat_command);
  if (app.got_subcommand("validate")) return run(validate_command);
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
