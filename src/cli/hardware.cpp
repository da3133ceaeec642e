#include "cli/command.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace monet::cli {

namespace {

int write_file(const std::string& path, const std::string& text) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "wb"), &std::fclose);
  if (file && std::fwrite(text.data(), 1, text.size(), file.get()) == text.size() && std::fflush(file.get()) == 0)
    return 0;
  return report(Error{ErrorKind::user, fmt::format("cannot be written: {}", std::strerror(errno)), path,
                      "name a file in a folder that exists and may be written to"});
}

}  // namespace

int run(const HardwareListCommand& command) {
  const auto presets = list_hardware();
  if (!presets) return report(presets.error());
  return print(command.common.json ? to_json(*presets) + "\n" : to_text(*presets));
}

int run(const HardwareShowCommand& command) {
  const auto hardware = describe_hardware(command.name, command.parameters);
  if (!hardware) return report(hardware.error());
  report({}, hardware->notes, command.common);
  if (!command.svg.empty()) {
    const auto picture = draw_hardware(command.name, command.parameters);
    if (!picture) return report(picture.error());
    if (const int status = write_file(command.svg, *picture); status != 0) return status;
  }
  return print(command.common.json ? to_json(*hardware, command.view) + "\n" : to_text(*hardware, command.view));
}

int run(const HardwareCheckCommand& command) {
  if (command.schema) return print(hardware_schema());
  if (command.file.empty()) {
    return report(Error{ErrorKind::user, "which file?", "",
                        "name one, as in monet hardware check machine.yaml, or ask for --schema"});
  }
  const auto hardware = describe_hardware(command.file, command.parameters);
  if (!hardware) return report(hardware.error());
  report({}, hardware->notes, command.common);
  for (const PeakSummary& peak : hardware->peaks) {
    if (peak.holds) continue;
    return report(Error{ErrorKind::user,
                        fmt::format("units x rate x clock give {:.4g} OP/s in {}, {:+.1f} % off the stated {:.4g}",
                                    peak.operations_per_s, peak.precision, peak.deviation_percent, *peak.stated),
                        command.file, "correct units, rate or clock, or what `peak` states"});
  }
  if (command.common.json) return print(to_json(*hardware, {}) + "\n");
  return print(fmt::format("{}: ok\n", command.file));
}

int run(const HardwareImportCommand& command) {
  const auto text = import_hardware_file(command.file, command.mapping);
  if (!text) return report(text.error());
  return command.output.empty() ? print(*text) : write_file(command.output, *text);
}

}  // namespace monet::cli
