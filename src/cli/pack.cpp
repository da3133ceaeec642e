#include "base/try.h"
#include "cli/command.h"
#include "cli/files.h"
#include "cli/interrupt.h"
#include "optimize/memory/budget.h"

#include <fmt/format.h>

namespace monet::cli {

namespace {

Expected<PackOptions> options_of(const PackCommand& command) {
  PackOptions options{.time_limit_s = command.time_limit_s, .stop = stop_on_interrupt()};
  if (command.time_limit_s && !(*command.time_limit_s > 0))
    return Error{.message = fmt::format("{} s is no time", *command.time_limit_s),
                 .place = "--time-limit",
                 .advice = "give seconds above 0"};
  if (!command.capacity.empty()) {
    MONET_TRY(options.capacity, bytes_from(command.capacity, "--capacity"));
  }
  return options;
}

}  // namespace

int run(const PackCommand& command) {
  const auto options = options_of(command);
  if (!options) return report(options.error());
  const auto packing = pack_file(command.file, *options);
  if (!packing) return report(packing.error());
  report({}, packing->notes, command.common);
  if (packing->placed && !command.output.empty()) {
    if (const int status = write_text(command.output, to_csv(*packing)); status != 0) return status;
  }
  const int status = command.common.json ? print_json(to_json(*packing)) : print(to_text(*packing));
  if (status != 0) return status;
  return packing->placed ? 0 : report(does_not_fit(*packing));
}

}  // namespace monet::cli
