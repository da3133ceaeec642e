#include "cli/command.h"

namespace monet::cli {

int run(const InspectCommand& command) {
  const auto inspection = inspect(command.model, command.options);
  if (!inspection) return report(inspection.error());
  report(inspection->warnings, inspection->notes, command.common);
  return command.common.json ? print_json(to_json(*inspection, command.layers))
                             : print(to_text(*inspection, command.layers));
}

}  // namespace monet::cli
