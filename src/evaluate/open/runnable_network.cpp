#include "base/try.h"
#include "evaluate/open/numbers.h"
#include "evaluate/open/opened_step.h"
#include "evaluate/open/runnable.h"
#include "hardware/hardware.h"

#include <monet/runnable.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace monet {

namespace {

Expected<RunnableMode> runnable_mode(const OpenedStep& opened_step, const Hardware& hardware,
                                     const StepRequest& options) {
  RunnableMode mode;
  MONET_TRY(const ExtractOptions extract, extract_of(opened_step, options));
  MONET_TRY(ExpandedGraph expanded, expanded_for(opened_step.graph, hardware, extract));
  mode.expanded = std::move(expanded.names);
  for (Unrunnable& each : unrunnable_operators(expanded.graph, hardware, extract)) {
    mode.missing.push_back({std::move(each.op), each.count, std::move(each.example), std::move(each.reasons)});
  }
  mode.runs = mode.missing.empty();
  return mode;
}

}  // namespace

Expected<Runnable> check_runnable(const Network& network, const StepRequest& given) {
  StepRequest options = given;
  MONET_TRY(const std::shared_ptr<const Hardware> machine, options.machine.hardware());
  const Hardware& hardware = *machine;
  Runnable result{.hardware = hardware.name, .model = network.name()};
  MONET_TRY(const NumberChoice numbers, choose_numbers(network, hardware, options.train));
  options.train.precision = numbers.precision();
  MONET_TRY(const OpenedStep step, open_step(network, options, false));
  MONET_TRY(const OpenedStep forward, open_step(network, options, true));
  MONET_TRY(result.training, runnable_mode(step, hardware, options));
  MONET_TRY(result.inference, runnable_mode(forward, hardware, options));
  result.warnings = step.warnings;
  result.notes = step.notes;
  return result;
}

}  // namespace monet
