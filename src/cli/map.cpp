#include "cli/command.h"
#include "cli/files.h"
#include "cli/interrupt.h"
#include "cli/progress.h"

namespace monet::cli {

int run(const MapCommand& command) {
  MapOptions options = command.options;
  options.machine = {command.on.hardware, command.on.parameters};
  options.stop = stop_on_interrupt();
  if (is_watched(command.common))
    options.progress = [](std::size_t done, std::size_t all) { show_progress("mapped", done, all); };
  const auto mapping = map_network(command.model, options);
  clear_progress();
  if (!mapping) return report(mapping.error());
  report(mapping->warnings, mapping->notes, command.common);
  if (!command.csv.empty()) {
    if (const int status = write_text(command.csv, to_csv(*mapping)); status != 0) return status;
  }
  const int status = command.common.json ? print_json(to_json(*mapping)) : print(to_text(*mapping, command.view));
  if (status != 0) return status;
  // Nothing could be mapped at all: no answer.
  return mapping->layers.empty() && !mapping->unmapped.empty() ? 2 : 0;
}

}  // namespace monet::cli
