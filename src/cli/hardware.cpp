#include "cli/command.h"
#include "cli/files.h"

#include <monet/runnable.h>

#include <fmt/format.h>

namespace monet::cli {

int run(const HardwareCommands& commands) {
  switch (commands.chosen) {
    case HardwareCommands::Chosen::list: return run(commands.list);
    case HardwareCommands::Chosen::show: return run(commands.show);
    case HardwareCommands::Chosen::check: return run(commands.check);
    case HardwareCommands::Chosen::import: break;
  }
  return run(commands.import);
}

int run(const HardwareListCommand& command) {
  const auto presets = list_hardware();
  if (!presets) return report(presets.error());
  return command.common.json ? print_json(to_json(*presets)) : print(to_text(*presets));
}

int run(const HardwareShowCommand& command) {
  const auto hardware = describe_hardware({command.name, command.parameters});
  if (!hardware) return report(hardware.error());
  report({}, hardware->notes, command.common);
  if (!command.svg.empty()) {
    const auto picture = draw_hardware({command.name, command.parameters});
    if (!picture) return report(picture.error());
    if (const int status = write_text(command.svg, *picture); status != 0) return status;
  }
  return command.common.json ? print_json(to_json(*hardware, command.view)) : print(to_text(*hardware, command.view));
}

namespace {

// Whether every operator of a network has a core: status 2 where one has none.
int check_network(const HardwareCheckCommand& command) {
  StepRequest options = command.as;
  options.machine = {command.file, command.parameters};
  const auto runnable = check_runnable(command.network, options);
  if (!runnable) return report(runnable.error());
  report(runnable->warnings, runnable->notes, command.common);
  const bool runs = command.inference ? runnable->inference.runs : runnable->training.runs;
  const int status =
      command.common.json ? print_json(to_json(*runnable, command.inference)) : print(to_text(*runnable));
  return status != 0 || runs ? status : 2;
}

}  // namespace

int run(const HardwareCheckCommand& command) {
  if (command.schema) return print_file(hardware_schema());
  if (command.file.empty()) {
    return report(Error{ErrorKind::user, "which file?", "",
                        "name one, as in monet hardware check machine.yaml, or ask for --schema"});
  }
  const auto hardware = describe_hardware({command.file, command.parameters});
  if (!hardware) return report(hardware.error());
  report({}, hardware->notes, command.common);
  for (const PeakSummary& peak : hardware->peaks) {
    if (peak.holds) continue;
    return report(Error{ErrorKind::user,
                        fmt::format("units x rate x clock give {:.4g} OP/s in {}, {:+.1f} % off the stated {:.4g}",
                                    peak.operations_per_s, peak.precision, peak.deviation_percent, *peak.stated),
                        command.file, "correct units, rate or clock, or what `peak` states"});
  }
  if (!command.network.empty()) return check_network(command);
  if (command.common.json) return print_json(to_json(*hardware, {}));
  return print(fmt::format("{}: ok\n", command.file));
}

int run(const HardwareImportCommand& command) {
  const auto text = import_hardware_file(command.file, command.mapping);
  if (!text) return report(text.error());
  return command.output.empty() ? print_file(*text) : write_text(command.output, *text);
}

}  // namespace monet::cli
