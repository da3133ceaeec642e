#include "base/try.h"
#include "cli/command.h"
#include "optimize/memory/budget.h"

namespace monet::cli {

namespace {

Expected<CollectiveReport> collective_of(const CollectiveCommand& command) {
  CollectiveOptions options = command.options;
  options.machine = {command.hardware, command.parameters};
  MONET_TRY(options.bytes, bytes_from(command.bytes, "--bytes"));
  return price_collective(options);
}

}  // namespace

int run(const CollectiveCommand& command) {
  const auto report_of = collective_of(command);
  if (!report_of) return report(report_of.error());
  return command.common.json ? print_json(to_json(*report_of)) : print(to_text(*report_of));
}

}  // namespace monet::cli
