#include "cli/command.h"
#include "cli/files.h"

#include <fmt/chrono.h>

#include <ctime>

namespace monet::cli {

namespace {

std::string today() {
  const std::time_t now = std::time(nullptr);
  return fmt::format("{:%Y-%m-%d}", fmt::gmtime(now));
}

}  // namespace

int run(const CalibrateCommand& command) {
  CalibrateOptions options = command.options;
  options.base = Machine(command.hardware, command.parameters);
  options.output = command.output;
  if (options.date.empty()) options.date = today();
  const auto calibration = calibrate(command.tables, options);
  if (!calibration) return report(calibration.error());
  report({}, calibration->notes, command.common);
  if (const int status = write_text(command.output, calibration->machine); status != 0) return status;
  return command.common.json ? print_json(to_json(*calibration)) : print(to_text(*calibration));
}

}  // namespace monet::cli
