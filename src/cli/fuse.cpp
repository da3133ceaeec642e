#include "cli/command.h"
#include "cli/files.h"
#include "cli/interrupt.h"
#include "cli/progress.h"

namespace monet::cli {

int run(const FuseCommand& command) {
  FuseOptions options = command.options;
  if (const Status read = command.on.put_into(options.step); !read) return report(read.error());
  if (is_watched(command.common)) options.step.progress = show_progress;
  options.stop = stop_on_interrupt();
  const auto fusion = fuse_network(command.model, options);
  clear_progress();
  if (!fusion) return report(fusion.error());
  report(fusion->warnings, fusion->notes, command.common);
  if (const int status = write_text(command.output, fusion->plan_yaml); status != 0) return status;
  return command.common.json ? print_json(to_json(*fusion)) : print(to_text(*fusion, command.show));
}

}  // namespace monet::cli
