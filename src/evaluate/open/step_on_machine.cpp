#include "evaluate/open/step_on_machine.h"
#include "hardware/hardware.h"

#include "base/try.h"
#include "evaluate/kernels/lowering_choice.h"
#include "evaluate/plan/hash.h"

#include <fmt/format.h>

namespace monet {

Expected<StepOnMachine> open_step_on_machine(const Network& network, StepRequest& options, bool inference) {
  StepOnMachine opened;
  MONET_TRY(const std::shared_ptr<const Hardware> hardware, options.machine.hardware());
  opened.hardware = *hardware;
  MONET_TRY(opened.plan, plan_of(options));
  if (opened.plan.parallel) {
    return Error{.message = "the plan is for many chips, and searches are for one",
                 .place = opened.plan.parallel->place.text(),
                 .advice = "take 'parallel' out of it, or evaluate it with `monet evaluate --plan`"};
  }
  MONET_RETURN_IF_ERROR(settle_lowering(opened.hardware, options, opened.plan));
  opened.reach = reach_of(opened.hardware, options.lowering);
  MONET_TRY(opened.numbers, choose_numbers(network, opened.hardware, options.train, options.zigzag));
  options.train.precision = opened.numbers.precision();
  MONET_TRY(opened.opened_step, open_step(network, options, inference));
  MONET_TRY(opened.opened_step, fitted_to(std::move(opened.opened_step), opened.hardware, options, opened.plan));
  opened.plan.expanded = opened.opened_step.expanded;
  MONET_TRY(opened.warnings, check_hashes(opened.plan, opened.opened_step.graph, opened.hardware, options.force));
  return opened;
}

Status home_in_memory(const Plan& plan) {
  if (plan.home.empty()) return Done{};
  return Error{
      .message = fmt::format("the plan has its data at home in {}, and this search keeps them in memory", plan.home),
      .place = "home",
      .advice = "take 'home' out of it; `monet checkpoint` searches plans from storage"};
}

}  // namespace monet
