#include "cli/command.h"

namespace monet::cli {

int run(const TrainCommand& command) {
  const auto training = train(command.model, command.options, command.output, command.recompute);
  if (!training) return report(training.error());
  report(training->step.warnings, training->step.notes, command.common);
  return print(command.common.json ? to_json(*training, command.view) + "\n" : to_text(*training, command.view));
}

}  // namespace monet::cli
